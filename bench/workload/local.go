package workload

import (
	"context"
	"net"

	"example.com/tenure/node"
)

// openLocal opens a cluster of one node in this process, with its data in
// memory: for what the node does by itself, without a disk and a network.
func openLocal(ctx context.Context) (*node.Node, error) { return openOn(ctx, node.MemoryStorage()) }

// openOn opens a cluster of one node in this process.
func openOn(ctx context.Context, storage node.Storage) (*node.Node, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	l.Close()
	n, err := node.Open(ctx, node.Config{ID: "n1", Listen: addr, Peers: []node.Peer{{ID: "n1", Addr: addr}}, Storage: storage})
	if err != nil {
		return nil, err
	}
	if err := n.WaitReady(ctx); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}
