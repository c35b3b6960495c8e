package node

import (
	"context"

	"github.com/hashicorp/raft"
)

// Confirmed is confirmed, for tests with whole clusters.
func (n *Node) Confirmed(ctx context.Context, read func() (raft.Configuration, error)) (raft.Configuration, error) {
	return n.confirmed(ctx, read)
}
