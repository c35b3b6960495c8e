package storage

import (
	"encoding/binary"
	"fmt"
)

// guardedStable is the guarded stable store as the node uses it. All values are
// read and written as one, under a checksum.
type guardedStable struct{ g *Guarded }

// Set stores a value.
func (s guardedStable) Set(key, value []byte) error {
	return s.set(key, append([]byte{kindBytes}, value...))
}

// SetUint64 stores a number. It is not read by Get, nor a value by GetUint64.
func (s guardedStable) SetUint64(key []byte, n uint64) error {
	return s.set(key, binary.BigEndian.AppendUint64([]byte{kindNumber}, n))
}

// Get returns a value, or an error with the text "not found".
func (s guardedStable) Get(key []byte) ([]byte, error) {
	value, err := s.get(key, kindBytes)
	if err != nil {
		return nil, err
	}
	return value, nil
}

// GetUint64 returns a number, or an error with the text "not found".
func (s guardedStable) GetUint64(key []byte) (uint64, error) {
	value, err := s.get(key, kindNumber)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(value), nil
}

func (s guardedStable) set(key, value []byte) error {
	return s.g.call(&s.g.quick, "storing a stable value", func() error {
		// One at a time: each writes what the one before left, and its own.
		s.g.stable.Lock()
		defer s.g.stable.Unlock()
		values, err := s.g.readValues()
		if err != nil {
			return err
		}
		values[string(key)] = value
		return s.g.inner.Stable.Set(keyValues, encodeValues(values))
	})
}

func (s guardedStable) get(key []byte, kind byte) (value []byte, err error) {
	err = s.g.call(&s.g.quick, "reading a stable value", func() error {
		values, err := s.g.readValues()
		if err != nil {
			return err
		}
		value = values[string(key)]
		if value != nil && (len(value) == 0 || value[0] != kind || (kind == kindNumber && len(value) != 1+8)) {
			return s.g.damage("the stable value %q is of another kind: %x", key, shorten(value))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if value == nil {
		return nil, errNotFound
	}
	return value[1:], nil
}

// readValues reads the stable values, of which there are none in a new store.
func (g *Guarded) readValues() (map[string][]byte, error) {
	sealed, err := g.inner.Stable.Get(keyValues)
	if isAbsent(err) || (err == nil && sealed == nil) {
		return make(map[string][]byte), nil
	}
	if err != nil {
		return nil, fmt.Errorf("the stable values: %w", err)
	}
	values, err := decodeValues(sealed)
	if err != nil {
		return nil, g.damage("its stable values: %v", err)
	}
	return values, nil
}

// raftStable is the guarded stable store as Raft uses it.
type raftStable struct{ stable guardedStable }

func (s raftStable) Set(key, value []byte) error { return exitIfDown(s.stable.Set(key, value)) }

func (s raftStable) SetUint64(key []byte, n uint64) error {
	return exitIfDown(s.stable.SetUint64(key, n))
}

func (s raftStable) Get(key []byte) ([]byte, error) {
	value, err := s.stable.Get(key)
	return value, exitIfDown(err)
}

func (s raftStable) GetUint64(key []byte) (uint64, error) {
	n, err := s.stable.GetUint64(key)
	return n, exitIfDown(err)
}
