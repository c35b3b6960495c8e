package tenure

import "time"

// A Member is a node of the cluster.
type Member struct {
	ID          string // as configured, unique in the cluster
	Incarnation string // made once a data folder
	Addr        string // of its one port
	Voter       bool   // counts for the quorum; a nonvoter only follows
	Leader      bool   // as the answering node knows
}

// Roles a node can be in, as [Status] tells.
const (
	RoleFounding  = "founding"  // waits for all listed peers before there is a cluster
	RoleJoining   = "joining"   // waits to be let into a cluster
	RoleFollower  = "follower"  // Raft's
	RoleCandidate = "candidate" // Raft's
	RoleLeader    = "leader"    // Raft's
	RoleRemoved   = "removed"   // was removed from the cluster; its data is of no use any more
	RoleStopped   = "stopped"   // closed or failed
)

// A Status is what a node knows of itself and the cluster, without asking
// anyone.
type Status struct {
	ID          string
	Incarnation string
	ClusterID   string // "" before the founding or the join
	Addr        string
	Version     string // of the program
	Role        string // one of the Role constants
	Leader      string // the leader's node id, "" when none is known
	LeaderAddr  string
	Term        uint64
	CommitIndex uint64
	// AppliedIndex and Checksum belong together: two nodes that agree on the
	// first must agree on the second.
	AppliedIndex uint64
	Checksum     uint64
	LargestTTL   time.Duration // of the cluster, 0 before the founding
	Records      int           // keys with a record
	Held         int           // of them, keys whose tenure stands
	Waiting      int           // acquires in line, on the leader
	Members      []Member
	WaitsFor     string // before the node can serve, "" if it can or has stopped
	Err          string // why the node failed, "" if it did not
}

// A Page is a part of a listing of records, in the order of their keys' bytes.
type Page struct {
	Views  []View
	Cursor string // where the next page goes on, "" after the last
}

// A Listing selects records.
type Listing struct {
	Prefix string // only keys that start with these bytes
	Owner  string // only tenures of this owner, "" for all records
	Limit  int    // at most so many a page, 1 to MaxListing; 0 is DefaultListing
	Cursor string // of the page before, "" for the first
}

// Bounds of a [Listing]'s Limit.
const (
	DefaultListing = 100
	MaxListing     = 1000
)
