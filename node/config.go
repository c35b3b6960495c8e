package node

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure"
)

// Config describes a node. ID, Listen, one of Dir and Storage, and one of Peers
// and Join are required.
type Config struct {
	// ID is the node's name, unique in the cluster: 1 to MaxIDBytes letters,
	// digits, dots, dashes and underscores.
	ID string
	// Listen is the HOST:PORT of the node's one port. Port 0 takes a free one.
	Listen string
	// Advertise is the HOST:PORT at which the other nodes and the clients reach
	// the node; empty is the address that it listens on.
	Advertise string

	// Peers founds a cluster: it lists all nodes of it, this one included, and
	// is the same list on each of them. All of them must be up the first time.
	// A node that has been founded or has joined passes it over.
	Peers []Peer
	// Join is the HOST:PORT of any member of the cluster to join.
	Join string
	// Nonvoter makes a joining node follow without counting for the quorum.
	Nonvoter bool

	// Dir is the folder of the node's data. It is made if it does not exist.
	Dir string
	// Storage replaces Dir by something else that keeps data.
	Storage Storage
	// Network replaces TCP.
	Network Network
	// Clock replaces the system's monotonic clock in judging expiry.
	Clock tenure.Clock

	// LargestTTL is the longest TTL that the cluster will ever grant. It
	// counts at the founding only: from MinTTL to MaxTTL, 0 is
	// DefaultLargestTTL.
	LargestTTL time.Duration
	// ElectionTimeout is how long a follower goes without hearing of its
	// leader before it seeks election, give or take a factor of two: from
	// MinElectionTimeout to MaxElectionTimeout, 0 is DefaultElectionTimeout.
	// It must be the same on all nodes, well above a round trip and the time
	// that the disk takes to sync. It has no part in the safety of leases.
	ElectionTimeout time.Duration
	// DiskTimeout is how long one call of the disk may take before the node
	// stops for good: at least 1 s, 0 is DefaultDiskTimeout. Long before that
	// a leader whose disk hangs lets another one lead.
	DiskTimeout time.Duration
	// SnapshotThreshold is how many log entries lead to a snapshot, 0 is
	// DefaultSnapshotThreshold. Large entries lead to one sooner: the log is
	// kept to some tens of megabytes.
	SnapshotThreshold uint64

	// Logger is where the node and Raft log; nil is nowhere.
	Logger hclog.Logger
}

// A Peer is a node in the list that founds a cluster.
type Peer struct {
	ID   string
	Addr string // HOST:PORT that it advertises
}

// Bounds and defaults of a [Config].
const (
	MaxIDBytes = 64

	MinElectionTimeout     = 50 * time.Millisecond
	DefaultElectionTimeout = 400 * time.Millisecond
	MaxElectionTimeout     = time.Minute

	MinDiskTimeout     = time.Second
	DefaultDiskTimeout = 30 * time.Second

	DefaultSnapshotThreshold = 8192
)

// validate checks c and returns it with the defaults filled in.
func (c Config) validate() (Config, error) {
	c = c.withDefaults()
	for _, check := range []func(Config) error{checkID, checkAddrs, checkData, checkCluster, checkDurations} {
		if err := check(c); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c Config) withDefaults() Config {
	if c.Network == nil {
		c.Network = TCP()
	}
	if c.Clock == nil {
		c.Clock = tenure.MonotonicClock()
	}
	if c.Storage == nil && c.Dir != "" {
		c.Storage = BoltStorage(c.Dir)
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	c.LargestTTL = orDefault(c.LargestTTL, tenure.DefaultLargestTTL)
	c.ElectionTimeout = orDefault(c.ElectionTimeout, DefaultElectionTimeout)
	c.DiskTimeout = orDefault(c.DiskTimeout, DefaultDiskTimeout)
	c.SnapshotThreshold = orDefault(c.SnapshotThreshold, DefaultSnapshotThreshold)
	return c
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

func checkID(c Config) error { return validateID("id", c.ID) }

func validateID(field, id string) error {
	bad := strings.IndexFunc(id, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	})
	if id == "" || len(id) > MaxIDBytes || bad >= 0 {
		return &tenure.InvalidError{Field: field, Value: fmt.Sprintf("%q", id),
			Bound: fmt.Sprintf("1 to %d letters, digits, dots, dashes and underscores", MaxIDBytes)}
	}
	return nil
}

func checkAddrs(c Config) error {
	if err := validateAddr("listen", c.Listen, false); err != nil {
		return err
	}
	if c.Advertise == "" {
		return nil
	}
	return validateAddr("advertise", c.Advertise, true)
}

// validateAddr checks an address, which others can dial only if it names a host
// and a port.
func validateAddr(field, addr string, dialled bool) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" || dialled && (host == "" || port == "0" || unspecified(host)) {
		bound := "HOST:PORT"
		if dialled {
			bound += " that other nodes can reach"
		}
		return &tenure.InvalidError{Field: field, Value: fmt.Sprintf("%q", addr), Bound: bound}
	}
	return nil
}

func unspecified(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsUnspecified()
}

func checkData(c Config) error {
	if c.Storage == nil {
		return &tenure.InvalidError{Field: "dir", Value: `""`, Bound: "a folder for the node's data"}
	}
	return nil
}

func checkCluster(c Config) error {
	switch {
	case len(c.Peers) == 0 && c.Join == "":
		return &tenure.InvalidError{Field: "peers", Value: "none", Bound: "the list of all nodes that found the cluster, or join must name a member"}
	case len(c.Peers) > 0 && c.Join != "":
		return &tenure.InvalidError{Field: "join", Value: fmt.Sprintf("%q", c.Join), Bound: "left out where peers are listed: a node either founds a cluster or joins one"}
	case c.Nonvoter && c.Join == "":
		return &tenure.InvalidError{Field: "nonvoter", Value: "true", Bound: "used with join: the nodes that found a cluster all vote"}
	case c.Join != "":
		return validateAddr("join", c.Join, true)
	}
	return checkPeers(c)
}

func checkPeers(c Config) error {
	ids, addrs := make(map[string]bool), make(map[string]bool)
	for _, p := range c.Peers {
		if err := validateID("peers", p.ID); err != nil {
			return err
		}
		if err := validateAddr("peers", p.Addr, true); err != nil {
			return err
		}
		if ids[p.ID] || addrs[p.Addr] {
			return &tenure.InvalidError{Field: "peers", Value: p.ID + "=" + p.Addr, Bound: "a list without repeated ids or addresses"}
		}
		ids[p.ID], addrs[p.Addr] = true, true
	}
	if !ids[c.ID] {
		return &tenure.InvalidError{Field: "peers", Value: fmt.Sprintf("without %q", c.ID), Bound: "a list that has this node, too"}
	}
	return nil
}

func checkDurations(c Config) error {
	if err := validateLargestTTL(c.LargestTTL); err != nil {
		return err
	}
	if c.ElectionTimeout < MinElectionTimeout || c.ElectionTimeout > MaxElectionTimeout {
		return &tenure.InvalidError{Field: "election_timeout", Value: c.ElectionTimeout.String(),
			Bound: fmt.Sprintf("from %v to %v", MinElectionTimeout, MaxElectionTimeout)}
	}
	if c.DiskTimeout < MinDiskTimeout {
		return &tenure.InvalidError{Field: "disk_timeout", Value: c.DiskTimeout.String(), Bound: fmt.Sprintf("at least %v", MinDiskTimeout)}
	}
	return nil
}

func validateLargestTTL(ttl time.Duration) error {
	if err := tenure.ValidateTTL(ttl, tenure.MaxTTL); err != nil {
		return &tenure.InvalidError{Field: "largest_ttl", Value: ttl.String(),
			Bound: fmt.Sprintf("a whole number of milliseconds from %v to %v", tenure.MinTTL, tenure.MaxTTL)}
	}
	return nil
}
