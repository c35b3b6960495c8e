package relay

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// A route is where one host reaches a port of another: a listener, and the
// connections that were opened through it.
type route struct {
	net         *Net
	from, to    string
	port        int
	there, back *way
	listener    *net.TCPListener
	made        atomic.Int64 // connections that reached the host, without probes

	mu    sync.Mutex
	conns map[*connection]struct{}
	over  bool
	open  sync.WaitGroup
}

// listen makes a route. n is locked.
func (n *Net) listen(from, to string, port int) (*route, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("relay from %s to %s: %w", from, to, err)
	}
	return &route{
		net: n, from: from, to: to, port: port, there: n.wayLocked(from, to), back: n.wayLocked(to, from),
		listener: l, conns: make(map[*connection]struct{}),
	}, nil
}

func (r *route) addr() string { return r.listener.Addr().String() }

// accept serves connections until the listener is closed.
func (r *route) accept(ctx context.Context) {
	for {
		near, err := r.listener.AcceptTCP()
		if err != nil {
			return
		}
		c := &connection{route: r, near: near, done: make(chan struct{})}
		c.target, c.probe = r.net.target(ends(near.RemoteAddr(), near.LocalAddr()), r.to, r.port)
		if !r.add(c) {
			c.reset()
			return
		}
		go func() {
			defer r.remove(c)
			c.serve(ctx)
		}()
	}
}

func (r *route) add(c *connection) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false
	}
	r.open.Add(1)
	r.conns[c] = struct{}{}
	return true
}

func (r *route) remove(c *connection) {
	r.mu.Lock()
	delete(r.conns, c)
	r.mu.Unlock()
	r.open.Done()
}

// each calls f for every connection that is open now.
func (r *route) each(f func(*connection)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		f(c)
	}
}

// close ends the route and waits until nothing of it is left.
func (r *route) close() error {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	err := r.listener.Close()
	r.each((*connection).reset)
	r.open.Wait()
	return err
}
