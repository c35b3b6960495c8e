package process

import (
	"context"
	"fmt"
	"net"

	"example.com/tenure/node"
)

// nodeAddr is a node's address as all others know it: a name, which each of
// them reaches through a relay of its own.
func nodeAddr(name string) string { return name + ":7400" }

// A network is the system's, but for the addresses. It implements
// node.Network.
type network struct {
	dials    map[string]string
	listens  func(addr string) // is told where a listener is really
	loopback node.Network
}

func newNetwork(dials map[string]string, listens func(addr string)) network {
	return network{dials: dials, listens: listens, loopback: node.TCP()}
}

// Listen implements node.Network. Whatever the address, the port is a free one.
func (n network) Listen(string) (net.Listener, error) {
	l, err := n.loopback.Listen("127.0.0.1:0")
	if err == nil {
		n.listens(l.Addr().String())
	}
	return l, err
}

// Dial implements node.Network.
func (n network) Dial(ctx context.Context, addr string) (net.Conn, error) {
	relay, known := n.dials[addr]
	if !known {
		return nil, fmt.Errorf("dial %s: no relay leads there", addr)
	}
	c, err := n.loopback.Dial(ctx, relay)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	return c, nil
}
