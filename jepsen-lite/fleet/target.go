package fleet

import (
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/plan"
)

// leastBytes is the narrowest that a link is made, in bytes a second. Over one
// that is narrower retries of all kinds pile up, and it might as well be cut.
const leastBytes = 32 << 10

// target draws what a fault strikes, and how hard.
func (d *drawing) target(k kind, f *plan.Fault) {
	switch {
	case !k.links:
		f.Targets = d.replicas()
		return
	case k.name == plan.Slow:
		f.Delay = plan.Duration(d.between(5*time.Millisecond, time.Duration(d.plan.TTL)/2))
		f.Jitter = plan.Duration(d.between(time.Millisecond, time.Duration(f.Delay)))
	case k.name == plan.Throttle:
		f.Bytes = leastBytes << d.rng.IntN(6)
	}
	f.Targets = d.grudge()
}

// replicas draws the owner or any one, sometimes some, and seldom all at once.
func (d *drawing) replicas() []string {
	if d.one(2) {
		return []string{Owner}
	}
	names := replicaNames(d.plan.Replicas)
	d.rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	n := 1
	switch {
	case d.one(5):
		n = len(names)
	case d.one(3):
		n = 1 + d.rng.IntN(len(names))
	}
	return slices.Sorted(slices.Values(names[:n]))
}

// grudge draws which links suffer: halves, one replica both ways or one way
// only, or a bridge.
func (d *drawing) grudge() []string {
	names := replicaNames(d.plan.Replicas)
	d.rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	if len(names) < 2 {
		return nil
	}
	one, rest := names[:1], names[1:]
	switch d.rng.IntN(5) {
	case 0:
		return links(one, rest)
	case 1:
		return links(rest, one)
	case 2: // all reach the first one, and nobody else
		if len(rest) > 1 {
			return links(rest, rest)
		}
	case 3:
		half := 1 + d.rng.IntN(len(names)-1)
		return append(links(names[:half], names[half:]), links(names[half:], names[:half])...)
	}
	return append(links(one, rest), links(rest, one)...)
}

func links(from, to []string) []string {
	var out []string
	for _, a := range from {
		for _, b := range to {
			if a != b {
				out = append(out, plan.Link(a, b))
			}
		}
	}
	return out
}
