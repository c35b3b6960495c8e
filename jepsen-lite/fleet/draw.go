package fleet

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/plan"
)

// Options are what a plan is drawn for.
type Options struct {
	Replicas          int
	Keys              []string
	TTL               time.Duration
	Safety, Available time.Duration
	Kinds             []string // of faults that the fleet can take, none for a run without faults
	Owners            bool     // its answers tell the owner and the epoch
	Lists             bool     // it can be read
}

// Draw makes the plan of a seed. The same seed and options give the same plan
// in the same version of this package; a plan that was written down stays what
// it is.
func Draw(seed uint64, o Options) *Plan {
	d := &drawing{rng: rand.New(rand.NewPCG(seed, 0x666c656574)), busy: make(map[string]time.Duration)}
	d.plan = &Plan{
		Version: Version, Arena: Name, Seed: seed, Replicas: o.Replicas, Keys: o.Keys,
		TTL: plan.Duration(o.TTL), Safety: plan.Duration(o.Safety), Available: plan.Duration(o.Available),
		Coverage: map[string]int{check.AcknowledgedData: len(o.Keys)},
	}
	d.swarm(o.Kinds)
	d.faults()
	if o.Lists {
		d.plan.Coverage[check.ListedKeys] = len(o.Keys)
	}
	if o.Owners {
		d.cover()
	}
	return d.plan
}

// A drawing is a plan while it is drawn.
type drawing struct {
	rng  *rand.Rand
	plan *Plan
	busy map[string]time.Duration // until when something is struck
	calm time.Duration            // until when no fault may take the majority again
}

func (d *drawing) one(in int) bool { return d.rng.IntN(in) == 0 }

// between draws whole milliseconds, short ones more often than long ones.
func (d *drawing) between(low, high time.Duration) time.Duration {
	low = max(low, time.Millisecond)
	if high <= low {
		return low
	}
	return time.Duration(float64(low) * math.Pow(float64(high)/float64(low), d.rng.Float64())).Truncate(time.Millisecond)
}

// swarm draws which kinds of faults exist in this run: two at least, if there
// are as many.
func (d *drawing) swarm(can []string) {
	for len(d.plan.Kinds) < min(2, len(can)) {
		d.plan.Kinds = nil
		for _, name := range can {
			if !d.one(3) {
				d.plan.Kinds = append(d.plan.Kinds, name)
			}
		}
	}
}

// faults draws the schedule: one fault after the other, which may overlap.
func (d *drawing) faults() {
	if len(d.plan.Kinds) == 0 {
		return
	}
	ttl := time.Duration(d.plan.TTL)
	pause := min(ttl, 2*time.Second)
	for at := d.between(pause/4, pause); at < time.Duration(d.plan.Safety); at += d.between(pause/3, pause*3) {
		k := d.kind()
		f := plan.Fault{Kind: k.name, At: plan.Duration(at)}
		switch {
		case k.instant:
		case d.one(2): // leases that would have been renewed end
			f.For = plan.Duration(d.between(ttl*5/4, 3*ttl))
		default:
			f.For = plan.Duration(d.between(max(k.shortest, ttl/10), ttl))
		}
		d.target(k, &f)
		if f.Ends() <= time.Duration(d.plan.Safety) && len(f.Targets) > 0 && d.free(&f) && d.bearable(&f) {
			d.take(f)
		}
	}
}

// kind draws a kind of fault: where there are kinds that strike replicas, at
// least every other one is such, since it is those that make owners change.
func (d *drawing) kind() kind {
	names := d.plan.Kinds
	if d.one(2) {
		strikesLinks := func(name string) bool { k, _ := kindOf(name); return k.links }
		if others := slices.DeleteFunc(slices.Clone(names), strikesLinks); len(others) > 0 {
			names = others
		}
	}
	k, _ := kindOf(names[d.rng.IntN(len(names))])
	return k
}

// free reports whether nothing strikes a target yet.
func (d *drawing) free(f *plan.Fault) bool {
	for _, target := range f.Targets {
		if time.Duration(f.At) < d.busy[striking(f, target)] {
			return false
		}
	}
	return true
}

func (d *drawing) take(f plan.Fault) {
	for _, target := range f.Targets {
		d.busy[striking(&f, target)] = f.Ends()
	}
	d.plan.Faults = append(d.plan.Faults, f)
}

// bearable reports whether a majority of the replicas stays up, or was for a
// while before: a fleet that never works shows nothing.
func (d *drawing) bearable(f *plan.Fault) bool {
	if k, _ := kindOf(f.Kind); k.links {
		return true
	}
	down, until := make(map[string]bool), f.Ends()
	for _, target := range f.Targets {
		down[target] = true
	}
	for i := range d.plan.Faults {
		other := &d.plan.Faults[i]
		if k, _ := kindOf(other.Kind); k.links || other.Ends() <= time.Duration(f.At) {
			continue
		}
		until = max(until, other.Ends())
		for _, target := range other.Targets {
			down[target] = true
		}
	}
	if len(down) <= (d.plan.Replicas-1)/2 {
		return true
	}
	if time.Duration(f.At) < d.calm {
		return false
	}
	d.calm = until + 2*time.Duration(d.plan.TTL)
	return true
}

// cover calls for another owner where owners stay away for long enough.
func (d *drawing) cover() {
	lapses := 0
	for _, f := range d.plan.Faults {
		if slices.Contains(f.Targets, Owner) && f.For > 2*d.plan.TTL {
			lapses++
		}
	}
	if lapses >= 3 && d.plan.Replicas > 1 {
		d.plan.Coverage[check.Successions] = 1
	}
}
