package cluster

// The kinds of servers.
const (
	Tenure    = "tenure"
	TenureWAL = "tenure-wal"
	Etcd      = "etcd"
)

// ServeVerb is the first argument with which a process of this program is a
// server; the second one is its spec.
const ServeVerb = "serve-for-bench"

// A spec says what a server process is.
type spec struct {
	Kind    string   `json:"kind"`
	ID      int      `json:"id"` // its place among the addresses
	Dir     string   `json:"dir"`
	Clients []string `json:"clients"`         // HOST:PORT for clients, of all servers
	Peers   []string `json:"peers,omitempty"` // HOST:PORT for each other, where that is another port
	Log     string   `json:"log,omitempty"`   // the file to log to
}

// A question is what a server is asked.
type question struct {
	// Collect has the garbage collected before the memory is measured.
	Collect bool `json:"collect,omitempty"`
	// Profile has the next seconds of the processor profiled to a file.
	Profile string `json:"profile,omitempty"`
}

// A State is what a server says of itself.
type State struct {
	Leads   bool   `json:"leads"`
	Ready   bool   `json:"ready"` // serves, and has caught up
	Term    uint64 `json:"term"`
	Records int    `json:"records"`
	CPU     int64  `json:"cpu_ns"` // used so far
	Heap    uint64 `json:"heap"`   // bytes of live objects, after a collection if it was asked for
	Written uint64 `json:"written"`
	Disk    int64  `json:"disk"` // bytes of all files in the folder
	Err     string `json:"err,omitempty"`
}
