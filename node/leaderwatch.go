package node

import (
	"github.com/hashicorp/raft"
)

// watchLeader ends the calls to a leader that another one has replaced, until
// the node stops. A deposed leader answers what waits on it; one that vanished
// does not, and its connection would take seconds to be noticed.
func (n *Node) watchLeader(r *raft.Raft) {
	changes := make(chan raft.Observation, 16)
	observer := raft.NewObserver(changes, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.LeaderObservation)
		return ok
	})
	r.RegisterObserver(observer)
	defer r.DeregisterObserver(observer)
	var last raft.ServerAddress
	for {
		select {
		case <-n.ctx.Done():
			return
		case o := <-changes:
			now := o.Data.(raft.LeaderObservation).LeaderAddr
			if now == "" || now == last {
				continue
			}
			if last != "" {
				n.retire(string(last))
			}
			last = now
		}
	}
}

// retire lets a former leader answer what it can, and then ends the calls that
// still wait for it.
func (n *Node) retire(addr string) {
	n.background.start(func() {
		pause(n.ctx, n.cfg.ElectionTimeout)
		if _, leads := n.leader(); leads != addr {
			n.links.drop(addr)
		}
	})
}
