package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/hashicorp/go-hclog"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// What is in a data folder. The lock file is empty; the snapshots' folder has
// the name that Raft's file store gives it.
const (
	boltName      = "raft.db"
	boltNewName   = "raft.db.new"
	lockName      = "lock"
	snapshotsName = "snapshots"
)

// Bolt returns the storage in folder dir, which is made if it is not there: the
// log and the stable store in one bolt file, the snapshots in files.
//
// Opening reads the whole bolt file and refuses one that is damaged, before
// bolt maps it into memory, where damage would fault. It refuses a folder that
// holds snapshots but no log: a new log beside an old cluster's snapshots would
// start a node that remembers what it should not, and not its vote. A folder
// that another process uses is refused after a second.
func Bolt(dir string) Storage { return boltStorage{dir} }

type boltStorage struct{ dir string }

// Open implements [Storage].
func (b boltStorage) Open(logger hclog.Logger) (Stores, error) {
	if err := makeFolder(b.dir); err != nil {
		return Stores{}, err
	}
	lock, err := lockFolder(b.dir)
	if err != nil {
		return Stores{}, err
	}
	stores, err := b.openLocked(logger)
	if err != nil {
		lock.Close()
		return Stores{}, err
	}
	closeBolt := stores.Close
	stores.Close = func() error { return errors.Join(closeBolt(), lock.Close()) }
	return stores, nil
}

// openLocked opens the folder, whose lock the caller has.
func (b boltStorage) openLocked(logger hclog.Logger) (Stores, error) {
	path := filepath.Join(b.dir, boltName)
	if err := b.ensureBolt(path); err != nil {
		return Stores{}, err
	}
	if err := verifyBoltFile(path); err != nil {
		return Stores{}, err
	}
	bolt, err := openBolt(path)
	if err != nil {
		return Stores{}, err
	}
	snapshots, err := openSnapshots(b.dir, logger)
	if err == nil {
		err = withFaults(path, func() error { return checkNotForeign(bolt, snapshots) })
	}
	if err != nil {
		bolt.Close()
		return Stores{}, err
	}
	return Stores{Log: bolt, Stable: bolt, Snapshots: snapshots, Name: path, Close: bolt.Close}, nil
}

// ensureBolt makes the bolt file of a new folder. It gets its name once it is
// complete and on disk, so that one that has the name and is not complete was
// damaged later.
func (b boltStorage) ensureBolt(path string) error {
	_, err := os.Lstat(path)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: can't be looked at: %w", path, err)
	}
	if err := b.checkNoSnapshots(); err != nil {
		return err
	}
	fresh := filepath.Join(b.dir, boltNewName)
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: left by an interrupted start, can't be removed: %w", fresh, err)
	}
	if err := makeBolt(fresh); err != nil {
		return fmt.Errorf("%s: can't be made: %w", fresh, err)
	}
	if err := os.Rename(fresh, path); err != nil {
		return fmt.Errorf("%s: can't be put in place: %w", path, err)
	}
	return syncFolder(b.dir)
}

// makeBolt makes a bolt file. It has stable values from the beginning, though
// none, so that a file without them is known to have lost them.
func makeBolt(path string) error {
	bolt, err := openBolt(path)
	if err != nil {
		return err
	}
	return errors.Join(bolt.Set(keyValues, encodeValues(nil)), bolt.Close())
}

func (b boltStorage) checkNoSnapshots() error {
	folder := filepath.Join(b.dir, snapshotsName)
	found, err := snapshotNames(folder)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return &DamageError{
			Name: filepath.Join(b.dir, boltName),
			What: fmt.Sprintf("it is not there, but %s holds snapshots (%s)", folder, found[0].id),
		}
	}
	return nil
}

// checkNotForeign refuses snapshots beside a log that never had a term: they
// are not this log's.
func checkNotForeign(bolt *boltStore, snapshots *boltSnapshots) error {
	sealed, err := bolt.Get(keyValues)
	if err != nil {
		return fmt.Errorf("%s: %w", bolt.path, err)
	}
	values, err := decodeValues(sealed)
	if err != nil {
		return &DamageError{Name: bolt.path, What: fmt.Sprintf("its stable values: %v", err)}
	}
	if _, found := values[string(keyCurrentTerm)]; found {
		return nil
	}
	found, err := snapshotNames(snapshots.folder)
	if err == nil && len(found) > 0 {
		err = &DamageError{Name: bolt.path, What: fmt.Sprintf("it is empty, but %s holds snapshots (%s)", snapshots.folder, found[0].id)}
	}
	return err
}

// openBolt opens a bolt file, or makes it.
//
// The freelist is kept on disk, though that costs a page a commit: without it
// bolt walks its pages on a goroutine of its own when it opens a file and when
// a write has failed, and there neither a recover nor the switch from faults to
// panics helps if a page can't be read. The log's file is never opened when
// anything is wrong with it (see verifyBoltFile), but a disk can break later.
func openBolt(path string) (bolt *boltStore, err error) {
	err = withFaults(path, func() error {
		store, err := raftboltdb.New(raftboltdb.Options{
			Path:                    path,
			MsgpackUseNewTimeFormat: true,
			BoltOptions: &bbolt.Options{
				Timeout:      lockWait,
				FreelistType: bbolt.FreelistMapType,
			},
		})
		bolt = &boltStore{store: store, path: path}
		return err
	})
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, errInUse(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: can't be opened: %w", path, err)
	}
	return bolt, nil
}

// withFaults calls f, and returns a panic or a memory fault of it as an error.
func withFaults(path string, f func() error) (err error) {
	faults := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(faults)
	defer func() {
		if p := recover(); p != nil {
			err = &DamageError{Name: path, What: fmt.Sprintf("a call into it panicked: %v", p)}
		}
	}()
	return f()
}

// lockWait is how long an opening waits for the process before it to end.
const lockWait = time.Second

func errInUse(path string) error {
	return fmt.Errorf("%s: in use by another process: stop it, or choose another data folder", path)
}

// makeFolder makes the data folder, and those above it, on disk.
func makeFolder(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := makeFolder(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: the data folder can't be made: %w", dir, err)
	}
	return syncFolder(above)
}

// syncFolder brings the names in a folder to the disk.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // which has no such call
	}
	folder, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("%s: can't be opened to sync it: %w", dir, err)
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil {
		return fmt.Errorf("%s: can't be synced: %w", dir, err)
	}
	return nil
}
