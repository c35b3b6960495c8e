package plan

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// The kinds of faults.
const (
	Partition   = "partition"    // the links that are the targets, each one way, as a>b, pass nothing
	Slow        = "slow"         // messages on the links take Delay and up to Jitter more
	Kill        = "kill"         // the nodes are stopped without any farewell, and started again
	KillHolder  = "kill-holder"  // likewise the replicas; they come back as other owners
	PauseHolder = "pause-holder" // the replicas stand still, their clocks go on
	Clock       = "clock"        // the clocks of nodes or replicas run at Rate
	DiskFail    = "disk-fail"    // each write to the nodes' disks fails, or only seems to
	DiskSlow    = "disk-slow"    // it takes Delay more
	DiskHang    = "disk-hang"    // it waits until the fault is healed
	Transfer    = "transfer"     // leadership is handed over, to the node that is the target
)

// Leader, as a node in a target, is the one that leads when the fault strikes.
const Leader = "leader"

// A kind says how faults of a kind are drawn and bounded.
type kind struct {
	name     string
	shortest time.Duration // that a fault must stand to mean anything
	links    bool          // the targets are links
	nodes    bool          // the targets may be nodes
	replicas bool          // the targets may be replicas
	instant  bool          // it is over as soon as it is taken
}

var kinds = []kind{
	{name: Partition, shortest: 200 * time.Millisecond, links: true},
	{name: Slow, shortest: 200 * time.Millisecond, links: true},
	{name: Kill, shortest: 100 * time.Millisecond, nodes: true},
	{name: KillHolder, shortest: 100 * time.Millisecond, replicas: true},
	{name: PauseHolder, shortest: 50 * time.Millisecond, replicas: true},
	{name: Clock, shortest: 100 * time.Millisecond, nodes: true, replicas: true},
	{name: DiskFail, shortest: 200 * time.Millisecond, nodes: true},
	{name: DiskSlow, shortest: 200 * time.Millisecond, nodes: true},
	{name: DiskHang, shortest: 200 * time.Millisecond, nodes: true},
	{name: Transfer, nodes: true, instant: true},
}

// Kinds returns the names of all kinds of faults.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

func kindOf(name string) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// The workloads.
const (
	Contended = "contended" // replicas contend for the keys and write to their durable copies through the gate
)

// Workloads are the names of all workloads.
func Workloads() []string { return []string{Contended} }

// NodeName returns the name of the i-th node, from 0.
func NodeName(i int) string { return "n" + strconv.Itoa(i+1) }

// ReplicaName returns the name of the i-th replica, from 0.
func ReplicaName(i int) string { return "r" + strconv.Itoa(i+1) }

// KeyName returns the name of the i-th key, from 0.
func KeyName(i int) string { return "k" + strconv.Itoa(i+1) }

func isNode(host string) bool { return strings.HasPrefix(host, "n") || host == Leader }

// Link returns the name of the link from one host to another.
func Link(from, to string) string { return from + ">" + to }

// Ends returns the hosts of a link.
func Ends(link string) (from, to string, ok bool) { return strings.Cut(link, ">") }
