package machine

import (
	"fmt"
	"io"

	"github.com/hashicorp/raft"

	"example.com/tenure/fsm"
)

// Snapshot returns the state as it is now, at the cost of a few page pointers.
// It fails once nothing can be applied any more: a state that may be half
// changed must not reach the disk.
func (m *Machine) Snapshot() (raft.FSMSnapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed != nil {
		return nil, m.failed
	}
	return &snapshot{m.state.Snapshot()}, nil
}

type snapshot struct{ state *fsm.Snapshot }

// Persist writes the snapshot while applies go on.
func (s *snapshot) Persist(sink raft.SnapshotSink) error {
	if _, err := s.state.WriteTo(sink); err != nil {
		return fmt.Errorf("writing a snapshot: %w", joined(err, sink.Cancel()))
	}
	return sink.Close()
}

// Release lets the pages go.
func (s *snapshot) Release() { s.state.Release() }

func joined(err, also error) error {
	if also == nil {
		return err
	}
	return fmt.Errorf("%w (and giving it up: %v)", err, also)
}

// Restore replaces the state by a snapshot's. Every standing tenure counts from
// now: nobody knows any more when its newest grant was applied.
func (m *Machine) Restore(source io.ReadCloser) (err error) {
	defer source.Close()
	// Raft would go on: with an older snapshot, or with nothing at all.
	defer func() {
		if err != nil {
			m.cfg.Fail(err)
		}
	}()
	state, err := fsm.Restore(source, m.seed)
	if err != nil {
		return fmt.Errorf("restoring a snapshot: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed != nil {
		return m.failed
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("restoring a snapshot: invariant violated: %v", p)
			m.failed = err
		}
	}()
	now := m.cfg.Clock.Now()
	m.state, m.observed, m.marker, m.history = state, observed{}, now, history{}
	m.applied = state.Index()
	state.Each(func(l fsm.Lookup) bool {
		if l.Record.Held {
			m.observed.set(l.Number.Slot, sighting{epoch: l.Record.Epoch, index: l.GrantIndex, ttl: l.TTL, at: now})
		}
		return true
	})
	m.cfg.Ring.Reset(m.applied)
	m.arrivals.reach(m.applied)
	return nil
}
