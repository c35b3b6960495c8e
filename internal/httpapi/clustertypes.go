package httpapi

import (
	"fmt"

	"example.com/tenure"
)

// A Status is the answer of GET /v1/status: what the node knows of itself and
// the cluster, without asking anyone.
type Status struct {
	ID               string   `json:"id"`
	Incarnation      string   `json:"incarnation"`
	ClusterID        string   `json:"cluster_id"` // "" before the founding or the join
	Addr             string   `json:"addr"`
	Version          string   `json:"version"`
	Role             string   `json:"role"`
	Leader           string   `json:"leader"` // the leader's node id, "" when none is known
	LeaderAddr       string   `json:"leader_addr"`
	Term             uint64   `json:"term"`
	CommitIndex      uint64   `json:"commit_index"`
	AppliedIndex     uint64   `json:"applied_index"`
	Checksum         string   `json:"checksum"` // of the state at the applied index, 16 hexadecimal digits
	LargestTTLMillis int64    `json:"largest_ttl_ms"`
	Records          int      `json:"records"`
	Held             int      `json:"held"`
	Waiting          int      `json:"waiting"`
	Members          []Member `json:"members"`
	WaitsFor         string   `json:"waits_for,omitempty"` // before the node can serve
	Failure          string   `json:"failure,omitempty"`   // why the node failed
}

// StatusOf returns the status as the API writes it.
func StatusOf(s tenure.Status) Status {
	return Status{
		ID: s.ID, Incarnation: s.Incarnation, ClusterID: s.ClusterID, Addr: s.Addr, Version: s.Version,
		Role: s.Role, Leader: s.Leader, LeaderAddr: s.LeaderAddr,
		Term: s.Term, CommitIndex: s.CommitIndex, AppliedIndex: s.AppliedIndex, Checksum: fmt.Sprintf("%016x", s.Checksum),
		LargestTTLMillis: s.LargestTTL.Milliseconds(), Records: s.Records, Held: s.Held, Waiting: s.Waiting,
		Members: membersOf(s.Members), WaitsFor: s.WaitsFor, Failure: s.Err,
	}
}

// A Member is a node of the cluster.
type Member struct {
	ID          string `json:"id"`
	Incarnation string `json:"incarnation"`
	Addr        string `json:"addr"`
	Voter       bool   `json:"voter"`
	Leader      bool   `json:"leader"`
}

// Members is the answer of GET /v1/members.
type Members struct {
	Members []Member `json:"members"`
}

func membersOf(members []tenure.Member) []Member {
	out := make([]Member, len(members))
	for i, m := range members {
		out[i] = Member(m)
	}
	return out
}

// Health is the answer of GET /healthz, and of GET /readyz when the node is
// ready.
type Health struct {
	ID   string `json:"id"`
	Role string `json:"role"`
}
