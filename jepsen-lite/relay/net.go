package relay

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// A Net is the relays between hosts. Its methods can be called concurrently.
type Net struct {
	ctx  context.Context // of all that it dials: cancelled by Close
	stop context.CancelFunc

	mu     sync.Mutex
	placed map[string][]string // where hosts listen really
	ways   map[pair]*way
	routes map[pair][]*route // by port
	over   bool

	accepting sync.WaitGroup

	probing sync.Mutex        // held while a probe dials, so that its connection is known before it is served
	probes  map[string]*probe // by the ends of their connections
}

type pair struct{ from, to string }

// ErrClosed is returned by what needs a Net that is open.
var ErrClosed = errors.New("the relays are closed")

// New returns relays for hosts that are still to be placed.
func New() *Net {
	n := &Net{
		placed: make(map[string][]string), ways: make(map[pair]*way), routes: make(map[pair][]*route), probes: make(map[string]*probe),
	}
	n.ctx, n.stop = context.WithCancel(context.Background())
	return n
}

// Place says at which HOST:PORT a host listens from now on, for each of its
// ports; none is nowhere, for the time being. A host that only dials needs no
// place.
func (n *Net) Place(host string, addrs ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.placed[host] = addrs
}

// Address returns the HOST:PORT at which from reaches a port of to, counted
// from 0. It is the same each time, and connections are accepted there from the
// first call on; they break while nothing listens there.
func (n *Net) Address(from, to string, port int) (string, error) {
	r, err := n.route(from, to, port)
	if err != nil {
		return "", err
	}
	return r.addr(), nil
}

// Made returns how many connections there were between all hosts, without those
// of probes. Zero says that nobody dials the relays.
func (n *Net) Made() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	var made int64
	for _, routes := range n.routes {
		for _, r := range routes {
			made += r.made.Load()
		}
	}
	return made
}

func (n *Net) route(from, to string, port int) (*route, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.over {
		return nil, ErrClosed
	}
	of := pair{from, to}
	for len(n.routes[of]) <= port {
		r, err := n.listen(from, to, len(n.routes[of]))
		if err != nil {
			return nil, err
		}
		n.routes[of] = append(n.routes[of], r)
		n.accepting.Go(func() { r.accept(n.ctx) })
	}
	return n.routes[of][port], nil
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

// target returns where a connection goes: to its host, "" if nothing listens
// there, or to the probe that opened it.
func (n *Net) target(ends, host string, port int) (addr string, p *probe) {
	n.probing.Lock()
	p = n.probes[ends]
	n.probing.Unlock()
	if p != nil {
		return p.listener.Addr().String(), p
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if addrs := n.placed[host]; port < len(addrs) {
		return addrs[port], nil
	}
	return "", nil
}

// between calls f for every open connection between two hosts, whoever opened
// it. Probes have no part in that, but for one.
func (n *Net) between(a, b string, own *probe, f func(*connection)) {
	n.mu.Lock()
	routes := slices.Concat(n.routes[pair{a, b}], n.routes[pair{b, a}])
	n.mu.Unlock()
	for _, r := range routes {
		r.each(func(c *connection) {
			if c.probe == nil || c.probe == own {
				f(c)
			}
		})
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
	for _, list := range routes {
		for _, r := range list {
			err = errors.Join(err, r.close())
		}
	}
	n.accepting.Wait()
	return err
}
