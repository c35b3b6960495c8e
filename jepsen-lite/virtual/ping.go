package virtual

import (
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
		err, steady := n.probe(from, to)
		if steady {
			return err
		}
	}
}

// probe reports false if the link's faults changed meanwhile.
func (n *Net) probe(from, to string) (err error, steady bool) {
	n.mu.Lock()
	l := n.link(from, to)
	is := *l
	soonest := latency + is.delay + is.drains(pingBytes)
	n.mu.Unlock()
	latest := soonest + jitter + is.jitter + leeway
	took, passed := n.ping(from, to, min(latest, pingWaits))
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case passed && is.cuts > 0:
		err = fmt.Errorf("the link %s>%s is cut and passes bytes", from, to)
	case passed && took < soonest:
		err = fmt.Errorf("bytes on the link %s>%s take %v, which should be %v at least", from, to, took, soonest)
	case !passed && is.cuts == 0 && latest <= pingWaits:
		err = fmt.Errorf("the link %s>%s is not cut and passes nothing within %v", from, to, latest)
	}
	return err, l.changes == is.changes
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
