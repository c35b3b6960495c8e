package storage

import "fmt"

// guardedStable is the guarded stable store as the node uses it. Values have a
// checksum, so it reads only what it wrote.
type guardedStable struct{ g *Guarded }

// Set stores a value.
func (s guardedStable) Set(key, value []byte) error {
	return s.set(key, sealValue(stableBytes, key, value))
}

// SetUint64 stores a number. It is not read by Get, nor a value by GetUint64.
func (s guardedStable) SetUint64(key []byte, n uint64) error {
	return s.set(key, sealNumber(key, n))
}

// Get returns a value, or an error with the text "not found".
func (s guardedStable) Get(key []byte) (value []byte, err error) {
	err = s.get(key, func(sealed []byte) (err error) {
		value, err = openValue(stableBytes, key, sealed)
		return err
	})
	return value, err
}

// GetUint64 returns a number, or an error with the text "not found".
func (s guardedStable) GetUint64(key []byte) (n uint64, err error) {
	err = s.get(key, func(sealed []byte) (err error) {
		n, err = openNumber(key, sealed)
		return err
	})
	return n, err
}

func (s guardedStable) set(key, sealed []byte) error {
	return s.g.call(&s.g.quick, "storing a stable value", func() error {
		if err := s.g.inner.Stable.Set(key, sealed); err != nil {
			return fmt.Errorf("%q: %w", key, err)
		}
		return nil
	})
}

func (s guardedStable) get(key []byte, open func(sealed []byte) error) error {
	found := false
	err := s.g.call(&s.g.quick, "reading a stable value", func() error {
		sealed, err := s.g.inner.Stable.Get(key)
		if isAbsent(err) || (err == nil && sealed == nil) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%q: %w", key, err)
		}
		found = true
		if err := open(sealed); err != nil {
			return s.g.damage("the stable value %q: %v", key, err)
		}
		return nil
	})
	if err == nil && !found {
		return errNotFound
	}
	return err
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
