package node_test

import (
	"context"
	"errors"
	"net"
	"sync"

	"example.com/tenure/node"
)

// A plug is the network of one node, which a test can pull: then nothing goes
// in or out any more, as if the host had died.
type plug struct {
	node.Network

	mu     sync.Mutex
	pulled bool
	conns  map[net.Conn]struct{}
}

func newPlug() *plug { return &plug{Network: node.TCP(), conns: make(map[net.Conn]struct{})} }

var errPulled = errors.New("the plug was pulled")

func (p *plug) pull() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pulled = true
	for conn := range p.conns {
		conn.Close()
	}
}

func (p *plug) keep(conn net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pulled {
		conn.Close()
		return nil, errPulled
	}
	p.conns[conn] = struct{}{}
	return conn, nil
}

// Dial implements [node.Network].
func (p *plug) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return p.keep(p.Network.Dial(ctx, addr))
}

// Listen implements [node.Network].
func (p *plug) Listen(addr string) (net.Listener, error) {
	l, err := p.Network.Listen(addr)
	return plugListener{l, p}, err
}

type plugListener struct {
	net.Listener
	plug *plug
}

// Accept accepts and drops connections while the plug is pulled.
func (l plugListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.plug.keep(l.Listener.Accept())
		if !errors.Is(err, errPulled) {
			return conn, err
		}
	}
}
