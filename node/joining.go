package node

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure"
	"example.com/tenure/node/internal/wire"
)

// seekAdmission asks to be let into the cluster until this node is a member as
// it was configured. The leader tells it, with the same message as a founder
// does, which cluster it belongs to.
func (n *Node) seekAdmission() {
	ask := &wire.Join{ID: n.cfg.ID, Incarnation: n.identity().Incarnation, Addr: n.Addr(), Nonvoter: n.cfg.Nonvoter}
	self := n.identity().serverID()
	for n.ctx.Err() == nil {
		if n.wasMember.Load() && !n.isMember(self) {
			return // removed meanwhile: it must not come back on its own
		}
		ctx, cancel := context.WithTimeout(n.ctx, admissionTimeout)
		conn, _, err := n.links.get(ctx, n.cfg.Join)
		if err == nil {
			err = call(ctx, conn, wire.OpJoin, 0, ask, &wire.Joined{})
		}
		cancel()
		if err == nil {
			_ = n.changeIdentity(func(i *identity) error { i.Admitted = true; return nil })
			return
		}
		n.waiting.set("this node is not a member yet: %s does not let it in: %s", n.cfg.Join, reasonOf(err))
		n.log.Warn("not let into the cluster yet", "join", n.cfg.Join, "error", err)
		pause(n.ctx, 5*foundingPoll)
	}
}

// Bounds of letting a node in.
const (
	admissionTimeout = 30 * time.Second
	catchUpPoll      = 20 * time.Millisecond
)

// join lets a node in, on the leader. It is told its cluster before it is made
// a member, and made a voter only once it has caught up, so that it never
// counts for a quorum that it can't serve.
func (n *Node) join(ctx context.Context, ask *wire.Join, hops int) error {
	if err := validateID("id", ask.ID); err != nil {
		return err
	}
	if err := validateAddr("addr", ask.Addr, true); err != nil {
		return err
	}
	return n.atLeader(ctx, hops, func(ctx context.Context, r *raft.Raft) error { return n.admit(ctx, r, ask) }, func(ctx context.Context, conn *wire.Conn) error {
		return call(ctx, conn, wire.OpJoin, wire.FlagForwarded, ask, &wire.Joined{})
	})
}

func (n *Node) admit(ctx context.Context, r *raft.Raft, ask *wire.Join) error {
	_, c, err := n.confirmedMembers(ctx, r)
	if err != nil {
		return err
	}
	who, err := n.examine(ctx, c, ask)
	if err != nil {
		return err
	}
	server := serverID(who.ID, who.Incarnation)
	present, _ := find(c, who.ID)
	if present.ID == server && (present.Suffrage == raft.Voter || ask.Nonvoter) && string(present.Address) == ask.Addr {
		return nil
	}
	i := n.identity()
	founding := &wire.Founding{ClusterID: i.ClusterID, LargestTTL: i.largestTTL(),
		Founders: []wire.Founder{{ID: who.ID, Incarnation: who.Incarnation, Addr: ask.Addr}}}
	if err := n.tell(ask.Addr, founding); err != nil {
		return err
	}
	n.log.Info("letting a node in", "node", who.ID, "addr", ask.Addr, "nonvoter", ask.Nonvoter)
	if err := await(ctx, n, r.AddNonvoter(server, raft.ServerAddress(ask.Addr), 0, remaining(ctx))); err != nil {
		return err
	}
	if ask.Nonvoter {
		return nil
	}
	if err := n.awaitCaughtUp(ctx, ask.Addr); err != nil {
		return err
	}
	if err := await(ctx, n, r.AddVoter(server, raft.ServerAddress(ask.Addr), 0, remaining(ctx))); err != nil {
		// Also where Raft surely refused the vote: the node was let in.
		return &tenure.UnavailableError{MaybeApplied: true, Err: err,
			Reason: fmt.Sprintf("the node at %s was let in, but may have got no vote: then it stays a nonvoter until it joins again", ask.Addr)}
	}
	return nil
}

// examine asks the node at the address who it is, and refuses one that is not
// who it should be, that has data of another cluster, or whose id or address
// another member has.
func (n *Node) examine(ctx context.Context, c raft.Configuration, ask *wire.Join) (*wire.Identity, error) {
	who := &wire.Identity{}
	conn, _, err := n.links.get(ctx, ask.Addr)
	if err == nil {
		err = call(ctx, conn, wire.OpIdentify, 0, n.introduction(), who)
	}
	if err != nil {
		return nil, &tenure.UnavailableError{Reason: fmt.Sprintf("the node at %s does not answer", ask.Addr), Err: err}
	}
	refuse := func(field, value, bound string) (*wire.Identity, error) {
		return nil, &tenure.InvalidError{Field: field, Value: value, Bound: bound}
	}
	switch {
	case who.ID != ask.ID:
		return refuse("id", ask.ID, fmt.Sprintf("%s, which is the id of the node at %s", who.ID, ask.Addr))
	case ask.Incarnation != "" && who.Incarnation != ask.Incarnation:
		return refuse("addr", ask.Addr, "the address of the node that asks: another node answers there")
	case who.ClusterID != "" && who.ClusterID != n.identity().ClusterID:
		return refuse("addr", ask.Addr, "the address of a node with empty data: that one belongs to cluster "+who.ClusterID)
	}
	for _, s := range c.Servers {
		id, incarnation := splitServerID(s.ID)
		if id == ask.ID && incarnation != who.Incarnation {
			return refuse("id", id, fmt.Sprintf("an id that no member has: a node %s with another data folder is a member; if its data is lost, remove it first", id))
		}
		if id != ask.ID && string(s.Address) == ask.Addr {
			return refuse("addr", ask.Addr, fmt.Sprintf("an address that no member has: it is that of %s; if that is gone, remove it first", id))
		}
	}
	return who, nil
}

// awaitCaughtUp waits until the node at addr has applied what the leader had
// when it began to wait.
func (n *Node) awaitCaughtUp(ctx context.Context, addr string) error {
	target, _ := n.machine.Checksum()
	for {
		var state wire.State
		conn, _, err := n.links.get(ctx, addr)
		if err == nil {
			err = call(ctx, conn, wire.OpState, 0, &wire.StateAsk{}, &state)
		}
		if err == nil && state.Applied >= target {
			return nil
		}
		pause(ctx, catchUpPoll)
		if ctx.Err() != nil {
			return &tenure.UnavailableError{MaybeApplied: true, Err: ctx.Err(),
				Reason: fmt.Sprintf("the node at %s has not caught up: it applied index %d of %d, and stays a nonvoter until it joins again", addr, state.Applied, target)}
		}
	}
}
