package store

import (
	"context"
	"fmt"
	"path/filepath"

	"example.com/tenure"
)

// A Store is a directory with the ledgers of many keys. It holds nothing open
// and can be used concurrently, by any number of processes.
type Store struct {
	dir  string
	disk disk
}

// New returns the store in dir, which is created with the first ledger.
func New(dir string) *Store { return &Store{dir: dir, disk: osDisk{}} }

// A Lease is what a store has to know of the tenure that opens a ledger. A
// *holder.Lease is one.
type Lease interface {
	// Epoch is the tenure's epoch. No other tenure of the key ever has it.
	Epoch() uint64
	// Live reports whether a copy that was written under epoch counts: it is
	// above the key's forgotten epoch and not above the tenure's own.
	Live(epoch uint64) bool
}

// Open takes the ledger of key over for the tenure that lease stands for: it
// seals every lower epoch, reads the newest live copy, and publishes that as the
// tenure's own. It blocks for as long as the disk takes.
//
// A tenure opens its ledger once. Where Open failed, the tenure has used its
// epoch up: release the lease and acquire it again. The errors:
//
//   - [SealedError]: the store knows this epoch or a higher one. Either the
//     caller is stale, or the lease cluster has lost its memory.
//   - [CorruptError]: the newest live copy is damaged. Nothing older is read
//     instead.
//   - a [tenure.InvalidError], the error of ctx, or of the file system.
func (s *Store) Open(ctx context.Context, key string, lease Lease) (*Ledger, error) {
	f, err := s.folder(key, lease.Epoch())
	if err != nil {
		return nil, err
	}
	ledger, err := f.takeOver(ctx, lease.Live)
	if err != nil {
		return nil, fmt.Errorf("open the ledger at epoch %d: %w", f.epoch, err)
	}
	return ledger, nil
}

// A Snapshot is a ledger as a bystander found it.
type Snapshot struct {
	Epoch   uint64 // of the copy, 0 if the key has none
	Entries []Entry
}

// Latest reads the newest copy of key without taking part. It is for looking
// at a ledger that nobody owns: while somebody does, the answer may lack
// acknowledged entries and hold ones that never will be. It knows no forgotten
// epoch.
func (s *Store) Latest(ctx context.Context, key string) (Snapshot, error) {
	f, err := s.folder(key, tenure.MaxEpoch)
	if err != nil {
		return Snapshot{}, err
	}
	epoch, entries, err := f.newest(ctx, func(uint64) bool { return true })
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the latest ledger: %w", err)
	}
	return Snapshot{Epoch: epoch, Entries: entries}, nil
}

func (s *Store) folder(key string, epoch uint64) (folder, error) {
	if err := tenure.ValidateKey(key); err != nil {
		return folder{}, err
	}
	if err := tenure.ValidateEpoch(epoch); err != nil {
		return folder{}, err
	}
	return folder{disk: s.disk, path: filepath.Join(s.dir, dirName(key)), key: key, epoch: epoch}, nil
}
