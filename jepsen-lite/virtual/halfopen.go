package virtual

import (
	"syscall"
	"time"
)

// HalfOpen ends the connections between two hosts at the far end without a word
// to the near one: what that sends goes nowhere, nothing comes back, and what
// it dials hangs. An end that waits for an acknowledgement breaks in time, and
// one that sends nothing never learns of it. It returns the near end of one
// more such connection, for a probe, and what takes the fault back: the far
// host answers again, and does not know the connections.
func (n *Net) HalfOpen(near, far string) (sample *conn, heal func()) {
	n.change(near, far, func(l *link) {
		l.gone++
		n.link(far, near).changes++
	})
	sample, open := n.orphans(near, far)
	return sample, func() {
		n.change(near, far, func(l *link) {
			l.gone--
			for _, c := range open {
				c.disown()
			}
		})
	}
}

// orphans makes orphans of all near ends, and returns them with one more.
func (n *Net) orphans(near, far string) (sample *conn, open []*conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	sample, _ = n.pipe(n.Host(near), n.Host(far))
	for c := range n.conns {
		if c.host.name == near && c.peer.host.name == far && c.alone == nil {
			open = append(open, c)
		}
	}
	for _, c := range open {
		c.peer.drop(syscall.ECONNRESET)
		c.alone = &orphan{}
	}
	return sample, open
}

// An orphan is a connection whose other end has gone without a word.
type orphan struct {
	sent     int  // bytes that nobody acknowledged
	disowned bool // the other host is there again, and answers with a reset
}

// disown lets the other host answer what the connection sent, and what it will
// send, with a reset.
func (c *conn) disown() {
	c.alone.disowned = true
	if c.alone.sent > 0 {
		c.drop(syscall.ECONNRESET)
	}
}

// drop ends this end of the connection, and only this one.
func (c *conn) drop(err error) {
	if c.dropped == nil {
		c.dropped = err
	}
	c.in.changed.Broadcast()
	c.out.changed.Broadcast()
	delete(c.host.net.conns, c)
}

// sendAway takes what the connection sends to nobody, and reports whether there
// is room for it. It breaks if that is not acknowledged in time.
func (c *conn) sendAway(bytes int) bool {
	if c.alone.sent >= window {
		return false
	}
	if c.alone.sent == 0 && bytes > 0 {
		time.AfterFunc(brokenAfter, func() {
			c.host.net.mu.Lock()
			defer c.host.net.mu.Unlock()
			c.drop(syscall.ETIMEDOUT)
		})
	}
	c.alone.sent += bytes
	if c.alone.disowned && bytes > 0 {
		c.drop(syscall.ECONNRESET)
	}
	return true
}
