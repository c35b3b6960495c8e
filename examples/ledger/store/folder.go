package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// A folder is the directory of one key as the tenure of one epoch uses it.
type folder struct {
	disk  disk
	path  string
	key   string
	epoch uint64
}

// takeOver is the successor's half of the rule. The order of its steps is what
// the package's promise rests on.
func (f folder) takeOver(ctx context.Context, live func(uint64) bool) (*Ledger, error) {
	if err := f.disk.makeDir(f.path); err != nil {
		return nil, err
	}
	if err := f.seal(); err != nil {
		return nil, err
	}
	_, entries, err := f.newest(ctx, live)
	if err != nil {
		return nil, err
	}
	copied, err := f.publish(ctx, entries)
	if err != nil {
		return nil, err
	}
	// A tenure that is sealed by now would fail at its first acknowledgement:
	// better now, and without removing anything.
	if err := f.look(); err != nil {
		return nil, errors.Join(err, copied.Close())
	}
	f.clean()
	return newLedger(f, copied, entries), nil
}

// newest reads the complete, live copy with the highest epoch: its epoch and
// entries, or 0 and none. It is called once the folder's epoch has sealed those
// below it.
func (f folder) newest(ctx context.Context, live func(uint64) bool) (uint64, []Entry, error) {
	for {
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		found, err := f.list()
		if err != nil {
			return 0, nil, err
		}
		if by := found.above(f.epoch); by != 0 {
			return 0, nil, &SealedError{Key: f.key, Epoch: f.epoch, By: by}
		}
		epoch := found.newest(live)
		if epoch == 0 {
			return 0, nil, nil
		}
		entries, err := f.readCopy(epoch)
		if errors.Is(err, fs.ErrNotExist) {
			// A later tenure has published it as its own and removed it. The
			// next listing shows that copy, and if the tenure is above our own,
			// that we are sealed.
			continue
		}
		return epoch, entries, err
	}
}

func (f folder) readCopy(epoch uint64) ([]Entry, error) {
	path := f.file(copyName(epoch))
	data, err := f.disk.read(path)
	if err != nil {
		return nil, err
	}
	entries, err := decodeCopy(data, f.key, epoch)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return entries, nil
}

// publish makes the entries the folder's own copy, in one atomic step, and
// returns the file for appending to it.
func (f folder) publish(ctx context.Context, entries []Entry) (file, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := encodeCopy(f.key, f.epoch, entries)
	if err != nil {
		return nil, err
	}
	draft, err := f.disk.create(f.file(draftName(f.epoch)))
	if err != nil {
		return nil, err
	}
	if err := f.complete(draft, data); err != nil {
		return nil, errors.Join(err, draft.Close())
	}
	return draft, nil
}

// complete gives the draft its content, and then its name.
func (f folder) complete(draft file, data []byte) error {
	if err := writeDurably(draft, data); err != nil {
		return err
	}
	err := f.disk.rename(f.file(draftName(f.epoch)), f.file(copyName(f.epoch)))
	if errors.Is(err, fs.ErrNotExist) {
		return &SealedError{Key: f.key, Epoch: f.epoch} // a later epoch swept the draft away
	}
	if err != nil {
		return err
	}
	return f.disk.syncDir(f.path)
}

func (f folder) list() (listing, error) {
	names, err := f.disk.names(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return listing{}, nil
	}
	if err != nil {
		return listing{}, err
	}
	return newListing(names), nil
}

func (f folder) file(name string) string { return filepath.Join(f.path, name) }

func writeDurably(to file, data []byte) error {
	if _, err := to.Write(data); err != nil {
		return err
	}
	return to.Sync()
}
