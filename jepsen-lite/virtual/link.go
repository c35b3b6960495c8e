package virtual

import (
	"slices"
	"syscall"
	"time"
)

// A link is what passes from one host to another.
type link struct {
	cuts          int // faults that cut it
	silence       int // counts the times that it was cut anew
	gone          int // faults for which its far host has vanished
	delay, jitter time.Duration
	throttles     []int // bytes a second, of each fault that throttles it
	changes       int   // of all this, and of what its connections were told
}

func (n *Net) link(from, to string) *link {
	l := n.links[[2]string{from, to}]
	if l == nil {
		l = &link{}
		n.links[[2]string{from, to}] = l
	}
	return l
}

func (l *link) takesDials() bool { return l.cuts == 0 && l.gone == 0 }

// drains is how long the link takes to pass bytes, without its delay.
func (l *link) drains(bytes int) time.Duration {
	if len(l.throttles) == 0 {
		return 0
	}
	return time.Duration(bytes) * time.Second / time.Duration(slices.Min(l.throttles))
}

// change makes a change to a link, and those that wait for it look again.
func (n *Net) change(from, to string, change func(l *link)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.link(from, to)
	change(l)
	l.changes++
	for c := range n.conns {
		for _, f := range []*flow{c.in, c.out} {
			if f.from == from && f.to == to {
				f.changed.Broadcast()
			}
		}
	}
}

// Cut stops everything from one host to another, once more; Heal takes one cut
// back.
func (n *Net) Cut(from, to string) {
	n.change(from, to, func(l *link) {
		if l.cuts++; l.cuts == 1 {
			l.silence++
			silence := l.silence
			time.AfterFunc(brokenAfter, func() { n.breakSilent(from, to, silence) })
		}
	})
}

// Heal takes one cut of a link back.
func (n *Net) Heal(from, to string) {
	n.change(from, to, func(l *link) { l.cuts-- })
}

// Slow adds a delay to a link, and a random one up to jitter. The returned
// function takes them back.
func (n *Net) Slow(from, to string, delay, jitter time.Duration) (heal func()) {
	n.change(from, to, func(l *link) { l.delay, l.jitter = l.delay+delay, l.jitter+jitter })
	return func() {
		n.change(from, to, func(l *link) { l.delay, l.jitter = l.delay-delay, l.jitter-jitter })
	}
}

// Throttle lets each connection pass so many bytes a second over a link. The
// returned function takes it back.
func (n *Net) Throttle(from, to string, bytes int) (heal func()) {
	n.change(from, to, func(l *link) { l.throttles = append(l.throttles, bytes) })
	return func() {
		n.change(from, to, func(l *link) {
			i := slices.Index(l.throttles, bytes)
			l.throttles = slices.Delete(l.throttles, i, i+1)
		})
	}
}

// Reset resets the connections between two hosts, at both ends.
func (n *Net) Reset(one, other string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.link(one, other).changes++
	n.link(other, one).changes++
	for c := range n.conns {
		if c.between(one, other) {
			c.breakOff(syscall.ECONNRESET)
		}
	}
}

// breakSilent breaks the connections over a link that has been cut ever since.
func (n *Net) breakSilent(from, to string, silence int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if l := n.link(from, to); l.cuts == 0 || l.silence != silence {
		return
	}
	for c := range n.conns {
		if c.between(from, to) {
			c.breakOff(syscall.ETIMEDOUT)
		}
	}
}

// takes draws how long a packet is under way.
func (n *Net) takes(from, to string) time.Duration {
	l := n.link(from, to)
	return latency + l.delay + time.Duration(n.rng.Int64N(int64(jitter+l.jitter)))
}
