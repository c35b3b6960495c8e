package node

import (
	"context"

	"github.com/hashicorp/raft"

	"example.com/tenure/node/internal/wire"
)

// A node that was started again with another address tells the cluster, since
// nobody finds it else. Only a change of what this node says of itself counts:
// where the configuration never had what the node advertised, as where a list of
// peers has names, the operator chose another address for the others.

// moved reports whether a node that was known to the cluster under the address
// it advertised advertises another one now.
func moved(was, now, listed string) bool { return was != now && listed == was }

// announce has the leader put this node's new address into the configuration,
// if it has one, and remembers that it did.
func (n *Node) announce() {
	was, now := n.identity().Addr, n.Addr()
	for n.ctx.Err() == nil {
		self, ok := n.listedSelf()
		if was == "" || !ok || !moved(was, now, string(self.Address)) {
			break
		}
		if err := n.announceTo(self, now); err != nil {
			n.log.Warn("the cluster does not know this node's new address yet", "addr", now, "old", was, "error", err)
		}
		pause(n.ctx, foundingPoll)
	}
	if n.ctx.Err() == nil && was != now {
		_ = n.changeIdentity(func(i *identity) error { i.Addr = now; return nil })
	}
}

// listedSelf is this node as its newest configuration has it.
func (n *Node) listedSelf() (raft.Server, bool) {
	self := n.identity().serverID()
	for _, s := range n.latest().Servers {
		if s.ID == self {
			return s, true
		}
	}
	return raft.Server{}, false
}

// announceTo asks to be a member at the address: this node itself if it leads,
// else the others, one after the other. They can be reached when the leader
// can't reach this node.
func (n *Node) announceTo(self raft.Server, addr string) error {
	ctx, cancel := context.WithTimeout(n.ctx, admissionTimeout)
	defer cancel()
	ask := &wire.Join{ID: n.cfg.ID, Incarnation: n.identity().Incarnation, Addr: addr, Nonvoter: self.Suffrage != raft.Voter}
	err := n.join(ctx, ask, 0)
	for _, s := range n.latest().Servers {
		if err == nil {
			return nil
		}
		if s.ID == self.ID {
			continue
		}
		conn, _, dialled := n.links.get(ctx, string(s.Address))
		if dialled != nil {
			err = dialled
			continue
		}
		err = call(ctx, conn, wire.OpJoin, 0, ask, &wire.Joined{})
	}
	return err
}
