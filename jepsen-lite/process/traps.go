package process

import (
	"context"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/workload"
)

// A trap waits for a host's process, whichever it is by then, to come to a
// point of its work.
type trap struct {
	name   string
	point  workload.Point
	sprung chan struct{} // closed when it has
}

// StopAt implements nemesis.Stopper.
func (a *arena) StopAt(ctx context.Context, name, point string) error {
	s := &trap{name, workload.Point(point), make(chan struct{})}
	a.mu.Lock()
	a.traps = append(a.traps, s)
	a.tellLocked(name)
	a.mu.Unlock()
	select {
	case <-s.sprung:
		return nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-s.sprung:
		return nil
	default:
	}
	a.traps = slices.DeleteFunc(a.traps, func(other *trap) bool { return other == s })
	a.tellLocked(name)
	return ctx.Err()
}

// tellLocked tells the host's process where its traps are.
func (a *arena) tellLocked(name string) {
	if m := a.members[name]; m != nil {
		m.stopAt(a.points(name))
	}
}

// points returns where a host's process is to stop itself.
func (a *arena) points(name string) []workload.Point {
	points := []workload.Point{}
	for _, s := range a.traps {
		if s.name == name && !slices.Contains(points, s.point) {
			points = append(points, s.point)
		}
	}
	return points
}

// sprung takes the word of a process that stops itself at a point. Where nobody
// waits for that any more it goes on.
func (a *arena) sprung(m *member, at workload.Point) {
	a.mu.Lock()
	i := slices.IndexFunc(a.traps, func(s *trap) bool { return s.name == m.name && s.point == at })
	if i >= 0 {
		close(a.traps[i].sprung)
		a.traps = slices.Delete(a.traps, i, i+1)
		a.tellLocked(m.name)
	}
	a.mu.Unlock()
	if i < 0 {
		go m.release()
	}
}

// release lets a process that stops itself go on, once it has stopped.
func (m *member) release() {
	for !m.child.Ended() {
		if stopped, err := m.child.Stopped(); err != nil || stopped {
			m.arena.fail(m.resume())
			return
		}
		time.Sleep(time.Millisecond)
	}
}
