package relay

import (
	"context"
	"net"
	"sync"
)

// A connection is one that host near opened to host far, in two halves.
type connection struct {
	route  *route
	target string        // where it goes, "" if nothing listens there
	probe  *probe        // that opened it; nil for a host's own
	done   chan struct{} // closed when it is over

	mu   sync.Mutex
	near *net.TCPConn
	far  *net.TCPConn // nil until it is made
	lost bool         // far has lost it before it was made
	over bool
}

// serve relays until both directions have ended.
func (c *connection) serve(ctx context.Context) {
	defer c.reset()
	if c.probe == nil && !c.mayOpen() {
		return
	}
	far, err := dial(ctx, c.target) // an empty one is refused, as by a host on which nothing listens
	if err != nil {
		_ = c.route.back.pass(c.done, c.route.back.due(), 0, false) // the refusal travels, too
		return
	}
	if !c.reach(far) {
		return
	}
	if c.probe == nil {
		c.route.made.Add(1)
	}
	there, back := newStream(c.route.there, c.near, far, c.done), newStream(c.route.back, far, c.near, c.done)
	var reading, writing sync.WaitGroup
	for _, s := range []*stream{there, back} {
		reading.Go(s.read)
		writing.Go(func() {
			if s.write() != nil {
				c.reset()
			}
		})
	}
	writing.Wait()
	c.end(func(c *net.TCPConn) { _ = c.Close() }) // both said that all was sent
	reading.Wait()
}

// mayOpen waits until a handshake can pass both ways. Its answer is no more to
// be had over a half-open way than the end of a connection.
func (c *connection) mayOpen() bool {
	return c.route.there.pass(c.done, c.route.there.due(), 0, false) == nil &&
		c.route.back.pass(c.done, c.route.back.due(), 0, true) == nil
}

func dial(ctx context.Context, target string) (*net.TCPConn, error) {
	ctx, cancel := context.WithTimeout(ctx, Vanished)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", target)
	if err != nil {
		return nil, err
	}
	return c.(*net.TCPConn), nil
}

// reach takes the far half, unless the connection is over.
func (c *connection) reach(far *net.TCPConn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		reset(far)
		return false
	}
	c.far = far
	if c.lost {
		reset(far)
	}
	return true
}

// reset breaks both halves.
func (c *connection) reset() { c.end(reset) }

func (c *connection) end(how func(*net.TCPConn)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.over = true
	close(c.done)
	how(c.near)
	if c.far != nil {
		how(c.far)
	}
}

// lose breaks the half of a host. The other half is told only when the way
// lets it pass.
func (c *connection) lose(host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.over:
	case host == c.route.from:
		reset(c.near)
	case c.far == nil:
		c.lost = true
	default:
		reset(c.far)
	}
}
