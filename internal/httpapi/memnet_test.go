package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
)

// A network is one in memory, so that servers and clients run in a bubble.
type network struct {
	mu    sync.Mutex
	nodes map[string]*listener
	dials []string
}

type listener struct {
	addr  string
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: l.addr} }

// serve starts a node at addr; stop kills it with all its connections.
func (n *network) serve(t *testing.T, addr string, h http.Handler) (stop func()) {
	l := &listener{addr: addr, conns: make(chan net.Conn), done: make(chan struct{})}
	n.mu.Lock()
	if n.nodes == nil {
		n.nodes = map[string]*listener{}
	}
	n.nodes[addr] = l
	n.mu.Unlock()
	server := &http.Server{Handler: h}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l)
	}()
	stop = func() {
		_ = server.Close()
		<-served
	}
	t.Cleanup(stop)
	return stop
}

var errNobody = errors.New("connection refused")

func (n *network) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	n.mu.Lock()
	n.dials = append(n.dials, addr)
	l := n.nodes[addr]
	n.mu.Unlock()
	if l == nil {
		return nil, errNobody
	}
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
	case <-ctx.Done():
	}
	_ = ours.Close()
	_ = theirs.Close()
	return nil, errNobody
}

// dialled returns the addresses that were dialled since the last call.
func (n *network) dialled() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	dials := n.dials
	n.dials = nil
	return dials
}

// client returns a client in the network.
func (n *network) client(t *testing.T, addrs ...string) *Client {
	t.Helper()
	c, err := NewClient(addrs...)
	if err != nil {
		t.Fatal(err)
	}
	c.http.Transport.(*http.Transport).DialContext = n.dial
	t.Cleanup(c.Close)
	return c
}
