package replica

import (
	"context"
	"net"
	"time"

	"example.com/tenure/node"
)

// dialTime is how long another replica's API may take to be reached.
const dialTime = time.Second

// A detour is the network of a replica that reaches some others elsewhere than
// at their public address.
type detour struct {
	node.Network
	to map[string]string // by public address
}

func (c Config) network() detour {
	d := detour{Network: node.TCP(), to: make(map[string]string)}
	for _, via := range c.Dial {
		if p, ok := peer(c.Peers, via.ID); ok {
			d.to[p.Node], d.to[p.HTTP] = via.Node, via.HTTP
		}
	}
	return d
}

// Dial connects to what has a public address.
func (d detour) Dial(ctx context.Context, addr string) (net.Conn, error) {
	if via, ok := d.to[addr]; ok {
		addr = via
	}
	return d.Network.Dial(ctx, addr)
}

// dialHTTP is Dial for the client of the others' API.
func (d detour) dialHTTP(ctx context.Context, _, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	return d.Dial(ctx, addr)
}
