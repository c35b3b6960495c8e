package plan

import (
	"math"
	"math/rand/v2"
	"time"
)

// Options narrow down what is drawn. Zero values leave it to the seed.
type Options struct {
	Arena    string        // default virtual
	Safety   time.Duration // default 60 s
	Kinds    []string      // of faults; default: the seed draws which exist
	Workload []string      // default: all
	Timed    bool          // keep all clocks within the margin
}

// Draw makes the plan of a seed. The same seed and options give the same plan
// in the same version of this program; a plan that was written down stays what
// it is.
func Draw(seed uint64, o Options) *Plan {
	d := &drawing{rng: rand.New(rand.NewPCG(seed, 0x74656e757265))}
	p := &Plan{Version: Version, Seed: seed, Arena: o.Arena, Workload: o.Workload}
	if p.Arena == "" {
		p.Arena = "virtual"
	}
	if len(p.Workload) == 0 {
		p.Workload = Workloads()
	}
	p.Safety = Duration(o.Safety)
	if p.Safety == 0 {
		p.Safety = Duration(time.Minute)
	}
	d.plan = p
	d.cluster()
	d.swarm(o.Kinds)
	d.beyond = !o.Timed && d.one(3)
	d.faults()
	d.coverage()
	return p
}

// A drawing is a plan while it is drawn.
type drawing struct {
	rng    *rand.Rand
	plan   *Plan
	beyond bool                     // clocks may leave the margin
	busy   map[string]time.Duration // until when a kind strikes a target
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
		for _, k := range kinds {
			if d.one(2) {
				d.plan.Kinds = append(d.plan.Kinds, k.name)
			}
		}
	}
}

// faults draws the schedule: one fault after the other, which may overlap.
func (d *drawing) faults() {
	d.busy = make(map[string]time.Duration)
	p := d.plan
	pause := d.between(300*time.Millisecond, 3*time.Second)
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
		d.target(k, &f)
		if d.free(&f) {
			p.Faults = append(p.Faults, f)
		}
	}
}

// free reports whether nothing of the kind strikes a target yet, and takes the
// targets.
func (d *drawing) free(f *Fault) bool {
	for _, target := range f.Targets {
		if time.Duration(f.At) < d.busy[f.Kind+target] {
			return false
		}
	}
	for _, target := range f.Targets {
		d.busy[f.Kind+target] = f.Ends()
	}
	return true
}

func (d *drawing) target(k kind, f *Fault) {
	switch k.name {
	case Partition:
		f.Targets = d.grudge()
	case Slow:
		f.Targets = d.grudge()
		f.Delay = Duration(d.between(5*time.Millisecond, time.Duration(d.plan.TTL)))
		f.Jitter = Duration(d.between(time.Millisecond, time.Duration(f.Delay)))
	case Kill, DiskFail, DiskSlow, DiskHang:
		f.Targets = d.some(d.nodes(), 1+d.plan.Nodes/2)
		if d.one(3) {
			f.Targets = []string{Leader}
		}
		if k.name == DiskSlow {
			f.Delay = Duration(d.between(time.Millisecond, time.Second))
		}
	case Transfer:
		f.Targets = d.some(d.nodes(), 1)
	case KillHolder, PauseHolder:
		f.Targets = d.some(d.replicas(), 1)
	case Clock:
		f.Targets, f.Rate = d.clock()
	}
}

// clock draws a host and its rate: nodes fast and replicas slow, which is what
// a margin is for, or the other way about.
func (d *drawing) clock() ([]string, *float64) {
	// Half of the margin for either side.
	slack := float64(d.plan.Margin) / float64(d.plan.TTL) / 2
	if d.beyond && d.one(2) {
		slack = 0.5
	}
	node := d.one(2)
	rate := 1 + slack*d.rng.Float64()
	if !node {
		rate = 1 - slack*d.rng.Float64()
	}
	switch {
	case d.one(4):
		rate = 2 - rate
		if slack < 0.5 && node == (rate > 1) {
			rate = 1
		}
	case d.beyond && !node && d.one(4):
		rate = 0
	}
	rate = math.Round(rate*1000) / 1000
	if node {
		return d.some(d.nodes(), 1), &rate
	}
	return d.some(d.replicas(), 1), &rate
}

func (d *drawing) coverage() {
	p := d.plan
	p.Coverage = map[string]int{"acknowledged_data": 1}
	if p.Safety < Duration(time.Minute) {
		return
	}
	lapses := 0 // faults that let a lease expire, if the replica has one
	for _, f := range p.Faults {
		if f.Kind == KillHolder || f.Kind == PauseHolder && time.Duration(f.For) > 3*time.Duration(p.TTL)/2 {
			lapses++
		}
	}
	if lapses >= 5 {
		p.Coverage["takeovers"] = 1
	}
}
