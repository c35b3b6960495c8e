package plan

import (
	"slices"
	"time"
)

// The arenas.
const (
	Virtual = "virtual" // the whole stack in virtual time
	Process = "process" // real processes on one host
)

// Arenas are the names of all arenas.
func Arenas() []string { return []string{Virtual, Process} }

// The kinds of faults.
const (
	Partition      = "partition"       // the links that are the targets, each one way, as a>b, pass nothing
	Slow           = "slow"            // messages on the links take Delay and up to Jitter more
	Throttle       = "throttle"        // the links pass Bytes a second
	Reset          = "reset"           // the connections between the hosts of the links are reset
	HalfOpen       = "half-open"       // connections over the links end at their far end without a word to the near one, whose bytes go nowhere; new ones hang
	Kill           = "kill"            // the nodes are stopped without any farewell, and started again
	KillHolder     = "kill-holder"     // likewise the replicas; they come back as other owners
	KillSuccessor  = "kill-successor"  // the replicas die at Point, in the midst of a recovery
	Pause          = "pause"           // the nodes stand still, their clocks go on
	PauseHolder    = "pause-holder"    // likewise the replicas
	PauseGate      = "pause-gate"      // likewise, exactly at Point, between a gate and its acknowledgement
	PauseSuccessor = "pause-successor" // likewise, in the midst of a recovery
	Suspend        = "suspend"         // the hosts of nodes or replicas stand still; their clocks count that time when they go on if Counted says so, and stand still too if not
	Clock          = "clock"           // the clocks of nodes or replicas run at Rate
	ClockJump      = "clock-jump"      // they jump ahead by Delay
	DiskFail       = "disk-fail"       // each write to the nodes' disks fails, or only seems to
	DiskSlow       = "disk-slow"       // it takes Delay more
	DiskHang       = "disk-hang"       // it waits until the fault is healed
	DiskFull       = "disk-full"       // it fails, and nothing of it is there
	BitFlip        = "bit-flip"        // a bit flips in what the nodes' disks keep, while the nodes are down
	Membership     = "membership"      // the nodes are removed from the cluster and join it again with empty disks
	Transfer       = "transfer"        // leadership is handed over, to the node that is the target
)

// Leader, as a node in a target, is the one that leads when the fault strikes.
const Leader = "leader"

// A kind says how faults of a kind are drawn and bounded, and which arenas can
// take and heal them.
type kind struct {
	name     string
	arenas   []string
	shortest time.Duration // that a fault must stand to mean anything
	links    bool          // the targets are links
	nodes    bool          // the targets may be nodes
	replicas bool          // the targets may be replicas
	instant  bool          // it is over as soon as it is taken
	downs    bool          // it keeps the nodes that it strikes from working
	says     saying        // which fields of a fault count
	points   []string      // of the replica's work, at one of which it strikes; nil if it strikes at once
	draw     func(*drawing, *Fault)
}

// A saying is a set of fields of a fault.
type saying uint

const (
	saysRate saying = 1 << iota
	saysDelay
	saysJitter
	saysBytes
	saysCounted
)

func (s saying) has(field saying) bool { return s&field != 0 }

var (
	everywhere  = []string{Virtual, Process}
	onlyVirtual = []string{Virtual}
)

var kinds = []kind{
	{name: Partition, arenas: everywhere, shortest: 200 * time.Millisecond, links: true, draw: (*drawing).partition},
	{name: Slow, arenas: everywhere, shortest: 200 * time.Millisecond, links: true, says: saysDelay | saysJitter, draw: (*drawing).slow},
	{name: Throttle, arenas: everywhere, shortest: 200 * time.Millisecond, links: true, says: saysBytes, draw: (*drawing).throttle},
	{name: Reset, arenas: everywhere, links: true, instant: true, draw: (*drawing).partition},
	{name: HalfOpen, arenas: everywhere, shortest: 200 * time.Millisecond, links: true, draw: (*drawing).partition},
	{name: Kill, arenas: everywhere, shortest: 100 * time.Millisecond, nodes: true, downs: true, draw: (*drawing).majority},
	{name: KillHolder, arenas: everywhere, shortest: 100 * time.Millisecond, replicas: true, draw: (*drawing).replica},
	{name: KillSuccessor, arenas: everywhere, shortest: 100 * time.Millisecond, replicas: true, points: recovering, draw: (*drawing).atRecovery},
	{name: Pause, arenas: everywhere, shortest: 50 * time.Millisecond, nodes: true, downs: true, draw: (*drawing).majority},
	{name: PauseHolder, arenas: everywhere, shortest: 50 * time.Millisecond, replicas: true, draw: (*drawing).replica},
	{name: PauseGate, arenas: everywhere, shortest: 50 * time.Millisecond, replicas: true, points: writing, draw: (*drawing).atGate},
	{name: PauseSuccessor, arenas: everywhere, shortest: 50 * time.Millisecond, replicas: true, points: recovering, draw: (*drawing).atRecovery},
	{name: Suspend, arenas: onlyVirtual, shortest: 50 * time.Millisecond, nodes: true, replicas: true, downs: true, says: saysCounted, draw: (*drawing).suspend},
	{name: Clock, arenas: everywhere, shortest: 100 * time.Millisecond, nodes: true, replicas: true, says: saysRate, draw: (*drawing).clock},
	{name: ClockJump, arenas: onlyVirtual, nodes: true, replicas: true, instant: true, says: saysDelay, draw: (*drawing).jump},
	{name: DiskFail, arenas: onlyVirtual, shortest: 200 * time.Millisecond, nodes: true, downs: true, draw: (*drawing).majority},
	{name: DiskSlow, arenas: onlyVirtual, shortest: 200 * time.Millisecond, nodes: true, says: saysDelay, draw: (*drawing).diskSlow},
	{name: DiskHang, arenas: onlyVirtual, shortest: 200 * time.Millisecond, nodes: true, downs: true, draw: (*drawing).majority},
	{name: DiskFull, arenas: onlyVirtual, shortest: 200 * time.Millisecond, nodes: true, downs: true, draw: (*drawing).majority},
	{name: BitFlip, arenas: onlyVirtual, shortest: 200 * time.Millisecond, nodes: true, downs: true, draw: (*drawing).minority},
	{name: Membership, arenas: onlyVirtual, shortest: 200 * time.Millisecond, nodes: true, downs: true, draw: (*drawing).node},
	{name: Transfer, arenas: everywhere, nodes: true, instant: true, draw: (*drawing).node},
}

// Kinds returns the names of all kinds of faults.
func Kinds() []string { return named(func(kind) bool { return true }) }

// KindsOf returns the names of the kinds that an arena can take and heal.
func KindsOf(arena string) []string {
	return named(func(k kind) bool { return slices.Contains(k.arenas, arena) })
}

func named(these func(kind) bool) []string {
	var names []string
	for _, k := range kinds {
		if these(k) {
			names = append(names, k.name)
		}
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
