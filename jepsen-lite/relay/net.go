package relay

import (
	"context"
	"errors"
	"sync"
)

// A Net is the relays between hosts. Its methods can be called concurrently.
type Net struct {
	ctx  context.Context // of all that it dials: cancelled by Close
	stop context.CancelFunc

	mu     sync.Mutex
	placed map[string]string // where hosts listen really
	ways   map[pair]*way
	routes map[pair]*route
	over   bool

	accepting sync.WaitGroup

	probing sync.Mutex // held while a probe dials, so that its connection is known before it is served
	probes  map[string]string
}

type pair struct{ from, to string }

// ErrClosed is returned by what needs a Net that is open.
var ErrClosed = errors.New("the relays are closed")

// New returns relays for hosts that are still to be placed.
func New() *Net {
	n := &Net{
		placed: make(map[string]string), ways: make(map[pair]*way), routes: make(map[pair]*route), probes: make(map[string]string),
	}
	n.ctx, n.stop = context.WithCancel(context.Background())
	return n
}

// Place says at which HOST:PORT a host listens from now on; "" is nowhere, for
// the time being. A host that only dials needs no place.
func (n *Net) Place(host, addr string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.placed[host] = addr
}

// Address returns the HOST:PORT at which from reaches to. It is the same each
// time, and connections are accepted there from the first call on; they break
// while the host has no place or nothing listens there.
func (n *Net) Address(from, to string) (string, error) {
	r, err := n.route(from, to)
	if err != nil {
		return "", err
	}
	return r.addr(), nil
}

func (n *Net) route(from, to string) (*route, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r := n.routes[pair{from, to}]; r != nil {
		return r, nil
	}
	if n.over {
		return nil, ErrClosed
	}
	r, err := n.listen(from, to, n.wayLocked(from, to), n.wayLocked(to, from))
	if err != nil {
		return nil, err
	}
	n.routes[pair{from, to}] = r
	n.accepting.Go(func() { r.accept(n.ctx) })
	return r, nil
}

func (n *Net) way(from, to string) *way {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wayLocked(from, to)
}

func (n *Net) wayLocked(from, to string) *way {
	w := n.ways[pair{from, to}]
	if w == nil {
		w = newWay()
		n.ways[pair{from, to}] = w
	}
	return w
}

// target returns where a connection goes: to its host, or to the probe that
// opened it.
func (n *Net) target(opener, host string) (addr string, probe bool) {
	n.probing.Lock()
	addr, probe = n.probes[opener]
	n.probing.Unlock()
	if probe {
		return addr, true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.placed[host], false
}

// between calls f for every open connection between two hosts, whoever opened
// it.
func (n *Net) between(a, b string, f func(*connection)) {
	n.mu.Lock()
	routes := []*route{n.routes[pair{a, b}], n.routes[pair{b, a}]}
	n.mu.Unlock()
	for _, r := range routes {
		if r != nil {
			r.each(f)
		}
	}
}

// Close breaks all connections and waits until nothing is left. It can be
// called again.
func (n *Net) Close() error {
	n.stop()
	n.mu.Lock()
	routes := n.routes
	n.routes, n.over = nil, true
	n.mu.Unlock()
	var err error
	for _, r := range routes {
		err = errors.Join(err, r.close())
	}
	n.accepting.Wait()
	return err
}
