package node

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"example.com/tenure"
	"example.com/tenure/node/internal/wire"
)

// links are the connections to other nodes, one to an address, made when they
// are first wanted and again when they broke.
type links struct {
	network Network
	// self returns the hello of this end.
	self func() wire.Hello

	// ctx ends when the links are closed, and every dial with it.
	ctx context.Context
	end context.CancelFunc

	mu     sync.Mutex
	byAddr map[string]*link
}

// A link is the connection to one address. Its turn is held while it is dialled.
type link struct {
	turn chan struct{}
	conn *wire.Conn // nil before the first
	peer wire.Hello

	// failure is the error of the newest dial, and failures counts them: who
	// waited for a turn while one failed takes its error and dials no other.
	failure  error
	failures atomic.Uint64

	// left says that the link is in byAddr no more, and has no connection.
	left bool
}

func newLinks(network Network, self func() wire.Hello) *links {
	ls := &links{network: network, self: self, byAddr: make(map[string]*link)}
	ls.ctx, ls.end = context.WithCancel(context.Background())
	return ls
}

// get returns a connection to addr that stands, dialling one if need be. It
// blocks until then or until ctx ends. An error is definite: nothing was sent.
func (ls *links) get(ctx context.Context, addr string) (*wire.Conn, wire.Hello, error) {
	for {
		l, err := ls.at(addr)
		if err != nil {
			return nil, wire.Hello{}, err
		}
		conn, peer, err := ls.use(ctx, l, addr)
		if conn != nil || err != nil {
			return conn, peer, err
		}
	}
}

// use is get at one link. It returns nothing if the link has left meanwhile.
func (ls *links) use(ctx context.Context, l *link, addr string) (*wire.Conn, wire.Hello, error) {
	failures := l.failures.Load()
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, wire.Hello{}, ctx.Err()
	case <-ls.ctx.Done():
		return nil, wire.Hello{}, wire.ErrClosed
	}
	switch {
	case ls.ctx.Err() != nil:
		return nil, wire.Hello{}, wire.ErrClosed
	case l.failures.Load() != failures:
		return nil, wire.Hello{}, l.failure
	case l.left:
		return nil, wire.Hello{}, nil
	}
	if l.conn != nil && l.conn.Err() == nil {
		return l.conn, l.peer, nil
	}
	l.hangUp()
	if err := ls.dial(ctx, l, addr); err != nil {
		if ctx.Err() == nil { // else it says nothing of the address
			l.failure = err
			l.failures.Add(1)
		}
		ls.leave(l, addr)
		return nil, wire.Hello{}, err
	}
	return l.conn, l.peer, nil
}

// hangUp closes the connection, if there is one. The caller has the turn.
func (l *link) hangUp() {
	if l.conn != nil {
		_ = l.conn.Close() // it is broken, or not wanted any more
		l.conn = nil
	}
}

// leave takes a link without a connection out, so that nothing is kept of
// addresses at which nobody answers. The caller has its turn.
func (ls *links) leave(l *link, addr string) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l.left = true
	if ls.byAddr[addr] == l {
		delete(ls.byAddr, addr)
	}
}

func (ls *links) at(addr string) (*link, error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.ctx.Err() != nil {
		return nil, wire.ErrClosed
	}
	l, ok := ls.byAddr[addr]
	if !ok {
		l = &link{turn: make(chan struct{}, 1)}
		ls.byAddr[addr] = l
	}
	return l, nil
}

// linkConfig lets a caller notice within about two seconds that the other end
// has vanished.
var linkConfig = wire.Config{PingInterval: 500 * time.Millisecond, PingTimeout: 2 * time.Second}

func (ls *links) dial(ctx context.Context, l *link, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	defer context.AfterFunc(ls.ctx, cancel)()
	nc, err := ls.network.Dial(ctx, addr)
	if err != nil {
		return err
	}
	hello := ls.self()
	hello.Purpose = wire.PurposeAPI
	peer, err := wire.Greet(ctx, nc, hello)
	if err != nil {
		_ = nc.Close()
		return err
	}
	l.conn, l.peer = wire.NewConn(nc, linkConfig), peer
	return nil
}

// drop ends the connection to addr and the calls on it, whose outcome is then
// unknown. The next call dials anew.
func (ls *links) drop(addr string) {
	ls.mu.Lock()
	l, ok := ls.byAddr[addr]
	ls.mu.Unlock()
	if !ok {
		return
	}
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	l.hangUp()
	ls.leave(l, addr)
}

// close ends all connections and the calls on them, and the dials that are under
// way.
func (ls *links) close() {
	ls.end()
	ls.mu.Lock()
	all := ls.byAddr
	ls.byAddr = nil
	ls.mu.Unlock()
	for _, l := range all {
		l.turn <- struct{}{}
		l.hangUp()
		<-l.turn
	}
}

// unavailableKey returns err as an [*tenure.UnavailableError] about key, unless
// it is nil or another error of the vocabulary.
func unavailableKey(key string, err error) error {
	if err == nil {
		return nil
	}
	if u, ok := asUnavailable(err).(*tenure.UnavailableError); ok {
		of := *u
		of.Key = key
		return &of
	}
	return err
}
