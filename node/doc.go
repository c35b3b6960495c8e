// Package node is the replicated store of the lease cluster: a Raft node that a
// service embeds, and a client for processes that embed none.
//
// It guarantees that a key has at most one tenure at a time, that an
// acknowledged grant, release or forget is never lost while a quorum of the
// voters keeps its disks, and that expiry is judged by each node's own
// monotonic clock from the moment it applied the grant: nothing replicated
// holds a time, and no change of leader shortens or extends a lease.
//
// It assumes that Raft's disks don't lose what they synced, and nothing about
// any clock but that it goes on counting; what the holder's clock must keep is
// said in package holder.
//
// It never answers held or lost from its own state alone, never says 'not
// applied' of what may have been, never releases on behalf of a connection that
// has gone, and never takes its host process down: a node that can't go on
// stops, and Done and Err say why.
//
// One node of three:
//
//	n, err := node.Open(ctx, node.Config{
//		ID:     "n1",
//		Listen: "10.0.0.1:7400",
//		Dir:    "/var/lib/service/tenure",
//		Peers:  []node.Peer{{"n1", "10.0.0.1:7400"}, {"n2", "10.0.0.2:7400"}, {"n3", "10.0.0.3:7400"}},
//	})
//	...
//	defer n.Close()
//
// A [Node] and a [Client] are a [example.com/tenure.Store] for package holder.
package node
