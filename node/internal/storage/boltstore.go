package storage

import (
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
)

// boltStore is Raft's log and stable store in a bolt file.
type boltStore struct {
	store *raftboltdb.BoltStore
	path  string
	// torn is set once a call has panicked. Bolt may then hold its locks for
	// ever, and closing it would wait for them.
	torn atomic.Bool
}

// Close closes the file, unless a call has panicked.
func (s *boltStore) Close() error {
	if s.torn.Load() {
		return fmt.Errorf("%s: left open, because a call into it panicked: it can't be opened again before this process ends", s.path)
	}
	return s.store.Close()
}

// do makes a call, and notes if it panics.
func (s *boltStore) do(f func() error) error {
	returned := false
	defer func() {
		if !returned {
			s.torn.Store(true)
		}
	}()
	err := f()
	returned = true
	return err
}

func (s *boltStore) FirstIndex() (index uint64, err error) {
	err = s.do(func() (err error) { index, err = s.store.FirstIndex(); return err })
	return index, err
}

func (s *boltStore) LastIndex() (index uint64, err error) {
	err = s.do(func() (err error) { index, err = s.store.LastIndex(); return err })
	return index, err
}

// GetLog reads from memory, so that an entry which it can't read is damaged.
func (s *boltStore) GetLog(index uint64, log *raft.Log) error {
	err := s.do(func() error { return s.store.GetLog(index, log) })
	if err != nil && !isNoEntry(err) {
		return &DamageError{Name: s.path, What: fmt.Sprintf("entry %d: %v", index, err)}
	}
	return err
}

func (s *boltStore) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

func (s *boltStore) StoreLogs(logs []*raft.Log) error {
	return s.do(func() error { return s.store.StoreLogs(logs) })
}

func (s *boltStore) DeleteRange(from, to uint64) error {
	return s.do(func() error { return s.store.DeleteRange(from, to) })
}

func (s *boltStore) Set(key, value []byte) error {
	return s.do(func() error { return s.store.Set(key, value) })
}

func (s *boltStore) Get(key []byte) (value []byte, err error) {
	err = s.do(func() (err error) { value, err = s.store.Get(key); return err })
	return value, err
}

func (s *boltStore) SetUint64(key []byte, n uint64) error {
	return s.do(func() error { return s.store.SetUint64(key, n) })
}

func (s *boltStore) GetUint64(key []byte) (n uint64, err error) {
	err = s.do(func() (err error) { n, err = s.store.GetUint64(key); return err })
	return n, err
}
