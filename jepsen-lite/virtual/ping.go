package virtual

import (
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	pingBytes = 1 << 10
	pingWaits = 100 * time.Millisecond // at most, for a ping to arrive
	leeway    = 5 * time.Millisecond   // of what a ping may take
)

// Probe sends bytes over a link, on a connection of their own, and reports a
// link that does not do what its faults say: one that is cut and passes them,
// one that is not and does not, or passes them too soon. It takes at most 100
// ms, and longer only if faults come and go meanwhile.
func (n *Net) Probe(from, to string) error {
	for {
		n.mu.Lock()
		is := *n.link(from, to)
		n.mu.Unlock()
		took, passed := n.ping(from, to, min(is.latest(), pingWaits))
		n.mu.Lock()
		steady := n.link(from, to).changes == is.changes
		n.mu.Unlock()
		if !steady {
			continue
		}
		if err := is.confirm(took, passed); err != nil {
			return fmt.Errorf("the link %s>%s %w", from, to, err)
		}
		return nil
	}
}

// soonest and latest are when a ping must arrive.
func (l *link) soonest() time.Duration { return latency + l.delay + l.drains(pingBytes) }

func (l *link) latest() time.Duration { return l.soonest() + jitter + l.jitter + leeway }

// confirm reports what a ping shows of a link and its faults do not say.
func (l *link) confirm(took time.Duration, passed bool) error {
	switch {
	case passed && l.cuts > 0:
		return errors.New("is cut and passes bytes")
	case passed && took < l.soonest():
		return fmt.Errorf("passes bytes in %v, which must take at least %v", took, l.soonest())
	case !passed && l.cuts == 0 && l.latest() <= pingWaits:
		return fmt.Errorf("is not cut and passes nothing within %v", l.latest())
	}
	return nil
}

// ping sends bytes and waits for them.
func (n *Net) ping(from, to string, patience time.Duration) (took time.Duration, passed bool) {
	near, far := n.Pair(from, to)
	defer near.Close()
	defer far.Close()
	begun := time.Now()
	_, _ = near.Write(make([]byte, pingBytes)) // the other end tells
	_ = far.SetReadDeadline(begun.Add(patience))
	_, err := io.ReadFull(far, make([]byte, pingBytes))
	return time.Since(begun), err == nil
}

// Pair returns both ends of a new connection between two hosts, made without
// any dialling: it is for probes.
func (n *Net) Pair(from, to string) (near, far *conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pipe(n.Host(from), n.Host(to))
}
