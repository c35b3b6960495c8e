package machine

import "context"

// arrivals are the readers that wait for an index to be applied.
type arrivals struct {
	waiting map[uint64]chan struct{} // by index; closed when it is reached
}

// reach wakes all that wait for index or less.
func (a *arrivals) reach(index uint64) {
	for at, arrived := range a.waiting {
		if at <= index {
			close(arrived)
			delete(a.waiting, at)
		}
	}
}

func (a *arrivals) at(index uint64) <-chan struct{} {
	if a.waiting == nil {
		a.waiting = make(map[uint64]chan struct{})
	}
	arrived, ok := a.waiting[index]
	if !ok {
		arrived = make(chan struct{})
		a.waiting[index] = arrived
	}
	return arrived
}

// Await blocks until the entry at index is applied here, or returns the
// context's error.
func (m *Machine) Await(ctx context.Context, index uint64) error {
	m.mu.Lock()
	if m.applied >= index {
		m.mu.Unlock()
		return nil
	}
	arrived := m.arrivals.at(index)
	m.mu.Unlock()
	select {
	case <-arrived:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
