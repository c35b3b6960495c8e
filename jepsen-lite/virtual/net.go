package virtual

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	latency     = 500 * time.Microsecond // of every link, at least
	jitter      = 500 * time.Microsecond // on top of it, at most
	brokenAfter = 10 * time.Second       // of silence a connection breaks, as TCP's does here
	retry       = 500 * time.Millisecond // of a dial whose packets are lost
)

// A Net is a simulated network of hosts. Bytes on one connection arrive in
// order, like TCP's: a cut link holds them until it is healed, or until the
// connection breaks. It can be used concurrently.
type Net struct {
	mu        sync.Mutex
	rng       *rand.Rand
	links     map[[2]string]*link
	listeners map[string]*listener
	conns     map[*conn]struct{}
}

// NewNet returns a network whose delays are drawn from a seed.
func NewNet(seed uint64) *Net {
	return &Net{
		rng:       rand.New(rand.NewPCG(seed, 1)),
		links:     make(map[[2]string]*link),
		listeners: make(map[string]*listener),
		conns:     make(map[*conn]struct{}),
	}
}

// open returns how many ends of connections and how many listeners there are.
func (n *Net) open() (conns, listeners int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.conns), len(n.listeners)
}

// A Host is the network as one process on a host has it. It implements
// node.Network.
type Host struct {
	net    *Net
	name   string
	gone   bool       // the process ended
	frozen int        // faults that make the process stand still
	thawed *sync.Cond // when none does any more
	held   []parcel   // that it sends then
}

// A parcel is a packet that was not sent yet.
type parcel struct {
	flow   *flow
	packet packet
}

// Host returns the network for a new process on a host.
func (n *Net) Host(name string) *Host {
	return &Host{net: n, name: name, thawed: sync.NewCond(&n.mu)}
}

// Die ends the process: its connections are reset, its listeners are gone, and
// nothing it does reaches the network any more.
func (h *Host) Die() {
	n := h.net
	n.mu.Lock()
	defer n.mu.Unlock()
	h.gone, h.frozen, h.held = true, 0, nil
	h.thawed.Broadcast()
	for c := range n.conns {
		if c.host == h {
			c.abort()
		}
	}
	for addr, l := range n.listeners {
		if l.host == h {
			delete(n.listeners, addr)
			l.changed.Broadcast()
		}
	}
}

// Freeze makes the process stand still as the network sees it, once more: it
// reads, accepts and sends nothing. Its system goes on: connections are taken,
// and bytes for it wait. Thaw takes one back.
func (h *Host) Freeze() {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	h.frozen++
}

// Thaw takes one Freeze back.
func (h *Host) Thaw() {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	if h.gone {
		return
	}
	if h.frozen--; h.frozen == 0 {
		for _, p := range h.held {
			p.flow.send(p.packet)
		}
		h.held = nil
		h.thawed.Broadcast()
	}
}

// stand waits while the process stands still. The caller holds the network's
// lock.
func (h *Host) stand() {
	for h.frozen > 0 && !h.gone {
		h.thawed.Wait()
	}
}

// Listen implements node.Network. The address is the host's name and a port.
func (h *Host) Listen(addr string) (net.Listener, error) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	if h.gone || h.net.listeners[addr] != nil || hostOf(addr) != h.name {
		return nil, fmt.Errorf("listen %s on %s: %w", addr, h.name, syscall.EADDRINUSE)
	}
	l := &listener{host: h, addr: addr, changed: sync.NewCond(&h.net.mu)}
	h.net.listeners[addr] = l
	return l, nil
}

func hostOf(addr string) string {
	host, _, _ := strings.Cut(addr, ":")
	return host
}

// Dial implements node.Network. Across a cut, or to a host that has vanished,
// it tries until ctx ends.
func (h *Host) Dial(ctx context.Context, addr string) (net.Conn, error) {
	to := hostOf(addr)
	for {
		h.net.mu.Lock()
		passes := h.net.link(h.name, to).takesDials() && h.net.link(to, h.name).cuts == 0
		wait := h.net.takes(h.name, to) + h.net.takes(to, h.name)
		h.net.mu.Unlock()
		if !passes {
			wait = retry
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("dial %s: %w", addr, ctx.Err())
		case <-time.After(wait):
		}
		if passes {
			return h.connect(addr)
		}
	}
}

func (h *Host) connect(addr string) (net.Conn, error) {
	n := h.net
	n.mu.Lock()
	defer n.mu.Unlock()
	h.stand()
	l := n.listeners[addr]
	if h.gone || l == nil {
		return nil, fmt.Errorf("dial %s: %w", addr, syscall.ECONNREFUSED)
	}
	near, far := n.pipe(h, l.host)
	l.waiting = append(l.waiting, far)
	l.changed.Broadcast()
	return near, nil
}

type listener struct {
	host    *Host
	addr    string
	changed *sync.Cond // on the network's lock
	waiting []*conn
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	n := l.host.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		l.host.stand()
		if n.listeners[l.addr] != l {
			return nil, net.ErrClosed
		}
		if len(l.waiting) > 0 {
			c := l.waiting[0]
			l.waiting = l.waiting[1:]
			return c, nil
		}
		l.changed.Wait()
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	n := l.host.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[l.addr] == l {
		delete(n.listeners, l.addr)
		for _, c := range l.waiting {
			c.abort()
		}
	}
	l.changed.Broadcast()
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return address(l.addr) }

type address string

// Network implements net.Addr.
func (address) Network() string { return "virtual" }

// String implements net.Addr.
func (a address) String() string { return string(a) }
