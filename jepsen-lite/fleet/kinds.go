package fleet

import (
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/plan"
)

// Owner, as a target, is the replica that owns a key when the fault strikes: the
// one that the newest answers tell, or else any.
const Owner = "owner"

// A kind is one of faults that can strike a fleet.
type kind struct {
	name     string
	shortest time.Duration // that a fault must stand to mean anything
	links    bool          // the targets are links as r1>r2, else replicas or Owner
	instant  bool          // it is over as soon as it is taken
}

var kinds = []kind{
	{name: plan.Kill, shortest: 50 * time.Millisecond},
	{name: plan.Pause, shortest: 50 * time.Millisecond},
	{name: plan.Partition, shortest: 200 * time.Millisecond, links: true},
	{name: plan.Slow, shortest: 200 * time.Millisecond, links: true},
	{name: plan.Throttle, shortest: 200 * time.Millisecond, links: true},
	{name: plan.HalfOpen, shortest: 200 * time.Millisecond, links: true},
	{name: plan.Reset, links: true, instant: true},
}

// Kinds returns the names of all kinds of faults that can strike a fleet.
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
