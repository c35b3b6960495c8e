package node

import (
	"github.com/hashicorp/raft"

	"example.com/tenure"
)

// Version is the program's, as Status tells it.
const Version = "0.1.0"

// Status returns what this node knows of itself and the cluster, without asking
// anyone.
func (n *Node) Status() tenure.Status {
	i := n.identity()
	s := tenure.Status{ID: i.ID, Incarnation: i.Incarnation, ClusterID: i.ClusterID, Addr: n.Addr(), Version: Version, Role: n.role()}
	if err := n.Err(); err != nil {
		s.Err = err.Error()
	}
	s.WaitsFor = n.waitsFor()
	s.AppliedIndex, s.Checksum = n.machine.Checksum()
	_, s.LargestTTL = n.machine.Cluster()
	s.Records, s.Held = n.machine.Len()
	if seq := n.sequencer.Load(); seq != nil {
		s.Waiting = seq.Waiting()
	}
	if r := n.raft.Load(); r != nil {
		s.Term, s.CommitIndex = r.CurrentTerm(), r.CommitIndex()
		s.Leader, s.LeaderAddr = n.leader()
		s.Members = n.listed(n.latest())
	}
	return s
}

func (n *Node) role() string {
	r := n.raft.Load()
	switch {
	case n.identity().Removed:
		return tenure.RoleRemoved
	case n.Err() != nil:
		return tenure.RoleStopped
	case r == nil && n.cfg.Join != "":
		return tenure.RoleJoining
	case r == nil:
		return tenure.RoleFounding
	}
	switch r.State() {
	case raft.Leader:
		return tenure.RoleLeader
	case raft.Candidate:
		return tenure.RoleCandidate
	case raft.Follower:
		return tenure.RoleFollower
	}
	return tenure.RoleStopped
}
