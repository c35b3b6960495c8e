package process

import (
	"context"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/workload"
)

// A snare waits for a host's process, whichever it is by then, to come to a
// point of its work.
type snare struct {
	name   string
	point  workload.Point
	sprung chan struct{} // closed when it has
}

// StopAt implements nemesis.Stopper.
func (a *arena) StopAt(ctx context.Context, name, point string) error {
	s := &snare{name, workload.Point(point), make(chan struct{})}
	a.mu.Lock()
	a.snares = append(a.snares, s)
	a.trapLocked(name)
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
	a.snares = slices.DeleteFunc(a.snares, func(other *snare) bool { return other == s })
	a.trapLocked(name)
	return ctx.Err()
}

// trapLocked tells the host's process about its traps.
func (a *arena) trapLocked(name string) {
	if m := a.members[name]; m != nil {
		m.trap(a.points(name))
	}
}

// points returns where a host's process is to stop itself.
func (a *arena) points(name string) []workload.Point {
	points := []workload.Point{}
	for _, s := range a.snares {
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
	i := slices.IndexFunc(a.snares, func(s *snare) bool { return s.name == m.name && s.point == at })
	if i >= 0 {
		close(a.snares[i].sprung)
		a.snares = slices.Delete(a.snares, i, i+1)
		a.trapLocked(m.name)
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
