package relay

import (
	"slices"
	"sync"
	"time"
)

// Cut lets nothing pass from one host to another, once more; heal takes that
// back. Connections stay. What was sent meanwhile arrives after the heal, or
// its connection breaks after [Vanished].
func (n *Net) Cut(from, to string) (heal func()) {
	w := n.way(from, to)
	w.change(func(s *state) { s.cuts++ })
	return sync.OnceFunc(func() { w.change(func(s *state) { s.cuts-- }) })
}

// Slow makes all that passes from one host to another take delay and up to
// jitter longer, on top of what others add. The order within a connection
// stays.
func (n *Net) Slow(from, to string, delay, jitter time.Duration) (heal func()) {
	w := n.way(from, to)
	w.change(func(s *state) { s.delay, s.jitter = s.delay+delay, s.jitter+jitter })
	return sync.OnceFunc(func() {
		w.change(func(s *state) { s.delay, s.jitter = s.delay-delay, s.jitter-jitter })
	})
}

// Throttle lets at most so many bytes a second pass from one host to another,
// on all connections together. The rate must be at least 1; of several the
// smallest counts.
func (n *Net) Throttle(from, to string, bytesPerSecond int64) (heal func()) {
	w := n.way(from, to)
	w.change(func(s *state) { s.rates = append(slices.Clone(s.rates), bytesPerSecond) })
	return sync.OnceFunc(func() {
		w.change(func(s *state) {
			i := slices.Index(s.rates, bytesPerSecond)
			s.rates = slices.Delete(slices.Clone(s.rates), i, i+1)
		})
	})
}

// HalfOpen breaks what connections there are for far and never tells near:
// there they stand as before, and nothing answers. Until the heal near is not
// told either of any other connection that far ends, and what near opens
// anew leads nowhere; then it learns of all.
func (n *Net) HalfOpen(near, far string) (heal func()) {
	w := n.way(far, near)
	w.change(func(s *state) { s.halfOpen++ })
	n.between(near, far, nil, func(c *connection) { c.lose(far) })
	return sync.OnceFunc(func() { w.change(func(s *state) { s.halfOpen-- }) })
}
