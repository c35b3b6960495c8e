package node

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure/node/internal/wire"
)

// compareInterval is how often a node compares its state with the others'.
const compareInterval = time.Second

// stateAt answers another node that compares states.
func (n *Node) stateAt(index uint64) *wire.State {
	applied, checksum := n.machine.Checksum()
	if at, ok := n.machine.ChecksumAt(index); ok {
		return &wire.State{Applied: applied, Index: index, Checksum: at}
	}
	return &wire.State{Applied: applied, Index: applied, Checksum: checksum}
}

// compareStates notices that this node's state differs from the others' at an
// equal index. That can't be unless memory, a disk or the program is broken;
// then the node stops.
func (n *Node) compareStates() {
	for n.ctx.Err() == nil {
		pause(n.ctx, compareInterval)
		if n.ctx.Err() != nil {
			return
		}
		same, differ, leaderDiffers := n.poll()
		majority := (n.voters() + 2) / 2
		// Where more agree with this node than not, the other one is wrong and
		// will notice. A node that only knows that its leader differs stops.
		if differ >= majority || leaderDiffers && same+1 < majority {
			index, checksum := n.machine.Checksum()
			n.fail(fmt.Errorf("invariant violated: the state of this node differs from that of %d others at an equal log index (now at index %d, checksum %016x): "+
				"its data can't be trusted; remove this node, empty its data folder and let it join anew", differ, index, checksum))
			return
		}
	}
}

// poll asks every other node, and counts those that agree and those that
// differ. A node that doesn't answer, or shares no index, is neither.
func (n *Node) poll() (same, differ int, leaderDiffers bool) {
	ctx, cancel := context.WithTimeout(n.ctx, compareInterval)
	defer cancel()
	leader, _ := n.leader()
	for _, s := range n.latest().Servers {
		id, _ := splitServerID(s.ID)
		if s.Suffrage != raft.Voter || id == n.cfg.ID {
			continue
		}
		equal, known := n.compareWith(ctx, string(s.Address))
		switch {
		case known && equal:
			same++
		case known:
			differ++
			leaderDiffers = leaderDiffers || id == leader
			n.log.Error("this node's state differs from another's at an equal log index", "node", id)
		}
	}
	return same, differ, leaderDiffers
}

func (n *Node) compareWith(ctx context.Context, addr string) (equal, known bool) {
	conn, _, err := n.links.get(ctx, addr)
	if err != nil {
		return false, false
	}
	index, _ := n.machine.Checksum()
	var theirs wire.State
	if err := call(ctx, conn, wire.OpState, 0, &wire.StateAsk{Index: index}, &theirs); err != nil {
		return false, false
	}
	ours, known := n.machine.ChecksumAt(theirs.Index)
	return ours == theirs.Checksum, known && theirs.Index > 0
}

// watchMembership finds out that this node was removed while it could not hear
// of it, and stops it: else it would ask for votes for ever.
func (n *Node) watchMembership() {
	for n.ctx.Err() == nil {
		pause(n.ctx, compareInterval)
		if n.ctx.Err() == nil && n.isRemoved() {
			_ = n.changeIdentity(func(i *identity) error { i.Removed = true; return nil })
			n.fail(ErrRemoved)
			return
		}
	}
}

// configured hears of every committed configuration. Membership may last so
// short that looking at the latest one would miss it.
func (n *Node) configured(c raft.Configuration) {
	self := n.identity().serverID()
	for _, s := range c.Servers {
		if s.ID == self {
			n.wasMember.Store(true)
		}
	}
}

// isRemoved asks the others, while this node hears of no leader, whether they
// still count it as a member. It believes only a list that the leader's log
// confirmed.
func (n *Node) isRemoved() bool {
	self := n.identity()
	if silence := n.silence(); silence >= 0 && silence < compareInterval || !n.wasMember.Load() && !n.isMember(self.serverID()) {
		return false
	}
	ctx, cancel := context.WithTimeout(n.ctx, compareInterval)
	defer cancel()
	for _, s := range n.latest().Servers {
		if s.ID == self.serverID() {
			continue
		}
		conn, _, err := n.links.get(ctx, string(s.Address))
		if err != nil {
			continue
		}
		var answer wire.Members
		if call(ctx, conn, wire.OpMembers, 0, &wire.Empty{}, &answer) != nil || len(answer.Members) == 0 {
			continue
		}
		for _, m := range answer.Members {
			if m.ID == self.ID && m.Incarnation == self.Incarnation {
				return false
			}
		}
		return true
	}
	return false
}
