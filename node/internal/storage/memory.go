package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// Memory returns a storage that lives as long as the process: what one opening
// stored, the next one finds. It is for tests and for a node that may forget.
func Memory() Storage { return &memory{values: make(map[string][]byte)} }

// memory is the state that outlives an opening.
type memory struct {
	mu        sync.Mutex
	user      *memoryUser // nil while nobody has it open
	first     uint64      // index of the first entry
	entries   []raft.Log
	values    map[string][]byte
	snapshots []*memorySnapshot // the newest first
	created   int               // snapshots ever
}

// Open implements [Storage].
func (m *memory) Open(hclog.Logger) (Stores, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.user != nil {
		return Stores{}, errors.New("memory: in use: close the node that has it open first")
	}
	m.user = &memoryUser{m}
	return Stores{
		Log:       memoryLog{m.user},
		Stable:    memoryStable{m.user},
		Snapshots: memorySnapshots{m.user},
		Name:      "memory",
		Close:     m.user.close,
	}, nil
}

// memoryUser is one opening. After its close it can do no more, as a process
// can do no more to its disk once it has ended.
type memoryUser struct{ m *memory }

func (u *memoryUser) close() error {
	u.m.mu.Lock()
	defer u.m.mu.Unlock()
	if u.m.user == u {
		u.m.user = nil
	}
	return nil
}

// use calls f with the state, under its lock.
func (u *memoryUser) use(f func(m *memory) error) error {
	u.m.mu.Lock()
	defer u.m.mu.Unlock()
	if u.m.user != u {
		return ErrClosed
	}
	return f(u.m)
}

func (m *memory) last() uint64 {
	if len(m.entries) == 0 {
		return 0
	}
	return m.first + uint64(len(m.entries)) - 1
}

type memoryLog struct{ user *memoryUser }

func (l memoryLog) FirstIndex() (index uint64, err error) {
	err = l.user.use(func(m *memory) error {
		if len(m.entries) > 0 {
			index = m.first
		}
		return nil
	})
	return index, err
}

func (l memoryLog) LastIndex() (index uint64, err error) {
	err = l.user.use(func(m *memory) error {
		index = m.last()
		return nil
	})
	return index, err
}

func (l memoryLog) GetLog(index uint64, log *raft.Log) error {
	return l.user.use(func(m *memory) error {
		if len(m.entries) == 0 || index < m.first || index > m.last() {
			return raft.ErrLogNotFound
		}
		*log = m.entries[index-m.first]
		return nil
	})
}

func (l memoryLog) StoreLog(log *raft.Log) error {
	return l.StoreLogs([]*raft.Log{log})
}

func (l memoryLog) StoreLogs(logs []*raft.Log) error {
	return l.user.use(func(m *memory) error {
		for _, log := range logs {
			if err := m.store(log); err != nil {
				return err
			}
		}
		return nil
	})
}

// store keeps copies: what the caller does with its entry later is not to show
// on the disk.
func (m *memory) store(log *raft.Log) error {
	if len(m.entries) == 0 {
		m.first = log.Index
	} else if log.Index != m.last()+1 {
		return fmt.Errorf("entry %d does not follow the last one, %d", log.Index, m.last())
	}
	entry := *log
	entry.Data, entry.Extensions = slices.Clone(log.Data), slices.Clone(log.Extensions)
	m.entries = append(m.entries, entry)
	return nil
}

func (l memoryLog) DeleteRange(from, to uint64) error {
	return l.user.use(func(m *memory) error {
		if len(m.entries) == 0 || to < m.first || from > m.last() {
			return nil
		}
		from, to := max(from, m.first), min(to, m.last())
		switch {
		case from == m.first:
			// A copy, so that what is deleted is let go.
			m.entries = slices.Clone(m.entries[to-m.first+1:])
			m.first = to + 1
		case to == m.last():
			m.entries = slices.Delete(m.entries, int(from-m.first), len(m.entries))
		default:
			return fmt.Errorf("entries %d to %d are in the midst of the log", from, to)
		}
		return nil
	})
}

type memoryStable struct{ user *memoryUser }

func (s memoryStable) Set(key, value []byte) error {
	return s.user.use(func(m *memory) error {
		m.values[string(key)] = slices.Clone(value)
		return nil
	})
}

func (s memoryStable) Get(key []byte) (value []byte, err error) {
	err = s.user.use(func(m *memory) error {
		stored, found := m.values[string(key)]
		if !found {
			return errNotFound
		}
		value = append([]byte{}, stored...)
		return nil
	})
	return value, err
}

func (s memoryStable) SetUint64(key []byte, n uint64) error {
	return s.Set(key, binary.BigEndian.AppendUint64(nil, n))
}

func (s memoryStable) GetUint64(key []byte) (uint64, error) {
	value, err := s.Get(key)
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, fmt.Errorf("%q has %d bytes and is no number", key, len(value))
	}
	return binary.BigEndian.Uint64(value), nil
}
