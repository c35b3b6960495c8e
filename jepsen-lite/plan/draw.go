package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Options narrow down what is drawn. Zero values leave it to the seed.
type Options struct {
	Arena    string        // default virtual
	Safety   time.Duration // default 60 s
	Kinds    []string      // of faults; default: the seed draws which of the arena's exist
	Workload []string      // default: the seed draws which exist besides the contended
	Timed    bool          // keep all clocks within the margin
}

// Draw makes the plan of a seed. The same seed and options give the same plan
// in the same version of this program; a plan that was written down stays what
// it is.
func Draw(seed uint64, o Options) *Plan {
	d := &drawing{rng: rand.New(rand.NewPCG(seed, 0x74656e757265))}
	p := &Plan{Version: Version, Seed: seed, Arena: o.Arena}
	if p.Arena == "" {
		p.Arena = Virtual
	}
	p.Safety = Duration(o.Safety)
	if p.Safety == 0 {
		p.Safety = Duration(time.Minute)
	}
	d.plan = p
	d.cluster()
	d.workload(o.Workload)
	d.swarm(o.Kinds)
	d.beyond = !o.Timed && d.one(3)
	d.faults()
	d.coverage(len(o.Kinds) > 0)
	return p
}

// A drawing is a plan while it is drawn.
type drawing struct {
	rng    *rand.Rand
	plan   *Plan
	beyond bool                     // clocks may leave the margin
	busy   map[string]time.Duration // until when a kind strikes a target
	calm   time.Duration            // until when no fault may take the majority of the nodes again
}

func (d *drawing) one(in int) bool { return d.rng.IntN(in) == 0 }

func (d *drawing) of(low, high int) int { return low + d.rng.IntN(high-low+1) }

// between draws whole milliseconds, short ones more often than long ones.
func (d *drawing) between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	ratio := float64(high) / float64(max(low, time.Millisecond))
	return (time.Duration(float64(max(low, time.Millisecond)) * math.Pow(ratio, d.rng.Float64()))).Truncate(time.Millisecond)
}

func (d *drawing) cluster() {
	p := d.plan
	p.Nodes = []int{3, 3, 3, 5}[d.rng.IntN(4)]
	p.Replicas, p.Keys = d.of(2, 4), d.of(1, 4)
	if p.Arena == Virtual && d.one(3) {
		p.Embedded = d.of(1, min(p.Nodes, p.Replicas))
	}
	p.TTL = Duration([]time.Duration{time.Second, 2 * time.Second, 5 * time.Second}[d.rng.IntN(3)])
	p.Margin = p.TTL / Duration([]int{20, 10, 5}[d.rng.IntN(3)])
	p.Election = Duration(d.between(150*time.Millisecond, 500*time.Millisecond))
	p.Snapshot = uint64(d.of(20, 400))
	p.Available = p.TTL*2 + p.Election*20 + Duration(3*time.Second)
	p.Liveness = p.Available + Duration(time.Second)
}

// swarm draws which kinds of faults exist.
func (d *drawing) swarm(given []string) {
	d.plan.Kinds = given
	for len(d.plan.Kinds) == 0 {
		for _, name := range KindsOf(d.plan.Arena) {
			if d.one(2) {
				d.plan.Kinds = append(d.plan.Kinds, name)
			}
		}
	}
}

// faults draws the schedule: one fault after the other, which may overlap.
func (d *drawing) faults() {
	d.busy = make(map[string]time.Duration)
	p := d.plan
	pause := d.between(1200*time.Millisecond, 3*time.Second)
	at := time.Duration(p.TTL)
	for {
		at += d.between(pause/3, pause*3)
		k, _ := kindOf(p.Kinds[d.rng.IntN(len(p.Kinds))])
		f := Fault{Kind: k.name, At: Duration(at)}
		if !k.instant {
			f.For = Duration(d.between(k.shortest, 3*time.Duration(p.TTL)))
		}
		if f.Ends() > time.Duration(p.Safety) {
			return
		}
		k.draw(d, &f)
		if d.free(&f) && d.bearable(k, &f) && d.timely(&f) {
			d.take(f)
		}
	}
}

// free reports whether nothing of the kind strikes a target yet.
func (d *drawing) free(f *Fault) bool {
	for _, target := range f.Targets {
		if time.Duration(f.At) < d.busy[f.Kind+d.plan.HostOf(target)] {
			return false
		}
	}
	return true
}

func (d *drawing) take(f Fault) {
	for _, target := range f.Targets {
		d.busy[f.Kind+d.plan.HostOf(target)] = f.Ends()
	}
	d.plan.Faults = append(d.plan.Faults, f)
}

// timely reports whether a fault leaves all clocks within the margin, where
// they have to stay there.
func (d *drawing) timely(f *Fault) bool {
	if d.beyond || f.Kind != Clock && f.Kind != ClockJump && f.Kind != Suspend {
		return true
	}
	with := *d.plan
	with.Faults = append(slices.Clone(with.Faults), *f)
	return with.Timed()
}

// bearable reports whether a fault, with those that it overlaps, leaves a
// majority of the nodes at work, or comes a while after the last that did not:
// a cluster that never works shows nothing.
func (d *drawing) bearable(k kind, f *Fault) bool {
	if !d.plan.downs(k, f) {
		return true
	}
	down, until := make(map[string]bool), f.Ends()
	add := func(f *Fault) {
		for _, target := range f.Targets {
			down[d.plan.HostOf(target)] = true
		}
		until = max(until, f.Ends())
	}
	add(f)
	for i := range d.plan.Faults {
		other := &d.plan.Faults[i]
		if k, _ := kindOf(other.Kind); d.plan.downs(k, other) && other.Ends() > time.Duration(f.At) {
			add(other)
		}
	}
	if len(down) <= (d.plan.Nodes-1)/2 {
		return true
	}
	if time.Duration(f.At) < d.calm {
		return false
	}
	d.calm = until + 2*time.Duration(d.plan.TTL)
	return true
}

// downs reports whether a fault keeps nodes from working, be it by way of
// replicas that embed them.
func (p *Plan) downs(k kind, f *Fault) bool {
	return k.downs || k.replicas && !k.nodes && slices.ContainsFunc(f.Targets, p.hasNode)
}
