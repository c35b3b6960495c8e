package wiretest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
)

// A Net joins hosts. It can be used concurrently.
type Net struct {
	mu        sync.Mutex
	listeners map[string]*listener
	conns     []*Conn // the dialling end of each
	cut       map[[2]string]bool
}

// NewNet returns a network without listeners.
func NewNet() *Net {
	return &Net{listeners: make(map[string]*listener), cut: make(map[[2]string]bool)}
}

// A Host is a Net as one host sees it.
type Host struct {
	net  *Net
	name string
}

// Host returns the network as the named host sees it.
func (n *Net) Host(name string) *Host { return &Host{net: n, name: name} }

// Cut stops everything between two hosts: what is under way is kept, a dial
// blocks.
func (n *Net) Cut(a, b string) { n.setCut(a, b, true) }

// Heal undoes Cut; what was kept arrives.
func (n *Net) Heal(a, b string) { n.setCut(a, b, false) }

func (n *Net) setCut(a, b string, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[pair(a, b)] = cut
	for _, c := range n.conns {
		if pair(string(c.local), string(c.remote)) == pair(a, b) {
			c.Hold(cut)
		}
	}
}

func pair(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }

// Listen listens on an address, which can be any text.
func (h *Host) Listen(addr string) (net.Listener, error) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	if h.net.listeners[addr] != nil {
		return nil, fmt.Errorf("listen %s: %w", addr, syscall.EADDRINUSE)
	}
	l := &listener{host: h, addr: addr, accepted: make(chan *Conn, 128), closed: make(chan struct{})}
	h.net.listeners[addr] = l
	return l, nil
}

// Dial connects to a listener, or reports that nobody listens. Across a cut it
// blocks until ctx ends.
func (h *Host) Dial(ctx context.Context, addr string) (net.Conn, error) {
	h.net.mu.Lock()
	l := h.net.listeners[addr]
	cut := l != nil && h.net.cut[pair(h.name, l.host.name)]
	h.net.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("dial %s: %w", addr, syscall.ECONNREFUSED)
	}
	if cut {
		<-ctx.Done()
		return nil, fmt.Errorf("dial %s: %w", addr, ctx.Err())
	}
	near, far := pipe(Addr(h.name), Addr(l.host.name))
	h.net.mu.Lock()
	h.net.conns = append(h.net.conns, near)
	h.net.mu.Unlock()
	select {
	case l.accepted <- far:
		return near, nil
	case <-l.closed:
		return nil, fmt.Errorf("dial %s: %w", addr, syscall.ECONNREFUSED)
	case <-ctx.Done():
		return nil, fmt.Errorf("dial %s: %w", addr, ctx.Err())
	}
}

type listener struct {
	host     *Host
	addr     string
	accepted chan *Conn
	once     sync.Once
	closed   chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() {
		l.host.net.mu.Lock()
		delete(l.host.net.listeners, l.addr)
		l.host.net.mu.Unlock()
		close(l.closed)
		l.refuseWaiting()
	})
	return nil
}

// refuseWaiting closes the connections that nobody accepted.
func (l *listener) refuseWaiting() {
	for {
		select {
		case c := <-l.accepted:
			_ = c.Close()
		default:
			return
		}
	}
}

func (l *listener) Addr() net.Addr { return Addr(l.addr) }
