package plan

import (
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/check"
)

// wholeTable is the safety phase from which on a plan has whatever makes each
// row of the coverage table happen, and calls for all of it.
const wholeTable = time.Minute

// How long a plan's own node is away, and is left alone before and after: time
// enough for another leader, and for so many entries that it needs a snapshot.
const (
	nodeAway = 9 * time.Second
	calmAway = 3 * time.Second
	// mostEntries is how many entries lead to a snapshot, at most, so that every
	// look whether one is due finds that it is. A node that is away misses more
	// than the log keeps behind it.
	mostEntries = 25
)

// coverage says what the run must have had to mean anything, and sees to it
// that it has. Of kinds that were given, the plan has no others, and so calls
// only for what those can bring about.
func (d *drawing) coverage(given bool) {
	p := d.plan
	p.Coverage = make(map[string]int)
	if p.writes() {
		d.call(check.AcknowledgedData)
	}
	if time.Duration(p.Safety) < wholeTable {
		return
	}
	if p.writes() || p.Works(Batches) {
		d.call(check.HandedOver, check.ForgetsDone)
	}
	if p.writes() {
		d.call(check.NearFence)
	}
	away := d.loseLeader(given)
	d.loseAnswers(given, away, d.loseHolder(given, away))
	slices.SortStableFunc(p.Faults, func(a, b Fault) int { return int(a.At - b.At) })
}

// writes reports whether replicas write to durable copies.
func (p *Plan) writes() bool { return p.Works(Contended) || p.Works(Ledger) }

func (d *drawing) call(rows ...string) {
	for _, row := range rows {
		d.plan.Coverage[row] = 1
	}
}

// A stretch of a run, which is empty where none was needed.
type stretch struct{ from, to time.Duration }

// crosses reports whether a fault stands at some instant of the stretch.
func (s stretch) crosses(f *Fault) bool { return time.Duration(f.At) <= s.to && f.Ends() >= s.from }

// loseLeader takes the leader away until another one leads and the log that it
// lacks is gone. Nothing else strikes nodes in the stretch that it returns.
func (d *drawing) loseLeader(given bool) (away stretch) {
	p := d.plan
	f := Fault{Targets: []string{Leader}, For: Duration(nodeAway)}
	switch f.Kind = d.oneOf(given, Kill, Partition, Pause); f.Kind {
	case "":
		return stretch{}
	case Partition:
		f.Targets = both([]string{Leader}, d.nodes())
	}
	p.Snapshot = min(p.Snapshot, mostEntries)
	f.At = d.within(time.Duration(p.TTL)+calmAway, time.Duration(p.Safety)-nodeAway-calmAway)
	away = stretch{time.Duration(f.At) - calmAway, f.Ends() + calmAway}
	p.Faults = slices.DeleteFunc(p.Faults, func(other Fault) bool {
		k, _ := kindOf(other.Kind)
		return (k.nodes || k.links || p.downs(k, &other)) && away.crosses(&other)
	})
	p.Faults = append(p.Faults, f)
	d.call(check.LeaderChanges, check.Snapshots)
	return away
}

// within draws an instant from low to less than high.
func (d *drawing) within(low, high time.Duration) Duration {
	return Duration((low + time.Duration(d.rng.Int64N(int64(high-low)))).Truncate(time.Millisecond))
}

// loseHolder lets replicas stand still, while they hold a key and write to it,
// for longer than a TTL, if possible not while the leader is away. It returns
// when.
func (d *drawing) loseHolder(given bool, away stretch) []stretch {
	p := d.plan
	if p.writes() && d.oneOf(given, PauseGate) != "" {
		d.call(check.Takeovers, check.SecondGates, check.HolderPauses)
		return d.pauseAtGate(away)
	}
	lapses := 0 // faults that let a lease expire, if the replica has one
	for _, f := range p.Faults {
		if f.Kind == KillHolder || f.Kind == PauseHolder && f.For > 3*p.TTL/2 {
			lapses++
		}
	}
	if lapses >= manyLapses {
		d.call(check.Takeovers)
	}
	return nil
}

// manyLapses is how many faults of replicas strike one that holds a key for
// sure.
const manyLapses = 5

// pauseAtGate has two replicas stand still in the midst of a write, one after
// the other: one may be let go by a holder that nobody waits behind.
func (d *drawing) pauseAtGate(away stretch) (during []stretch) {
	p := d.plan
	for _, point := range []string{BeforeWrite, AfterWrite} {
		replicas := d.replicas()[p.Embedded%p.Replicas:] // without a node, so that only they stand still
		f := Fault{Kind: PauseGate, Targets: d.some(replicas, 1), For: 2 * p.TTL, Point: point}
		// The replica may come to that point much later, and then has to stand
		// still for as long.
		d.place(&f, away, during, time.Duration(p.Safety)*3/4)
		p.Faults = slices.DeleteFunc(p.Faults, func(other Fault) bool {
			k, _ := kindOf(other.Kind)
			same := func(target string) bool { return p.HostOf(target) == p.HostOf(f.Targets[0]) }
			return other.At < f.At+f.For && other.Ends() > time.Duration(f.At) &&
				((k.nodes || k.replicas) && slices.ContainsFunc(other.Targets, same) ||
					k.replicas && !k.nodes && p.Replicas == 2) // somebody has to take over
		})
		p.Faults = append(p.Faults, f)
		during = append(during, stretch{time.Duration(f.At - p.TTL/5), f.Ends() + time.Duration(p.TTL)})
	}
	return during
}

// loseAnswers keeps all answers from the replicas for longer than a TTL, in
// which each of them asks for something, while the leader is there and, if
// possible, nobody has to stand still in the midst of a write. Replicas that
// embed nodes get theirs, unless all do: then their nodes hear nothing either.
func (d *drawing) loseAnswers(given bool, away stretch, gates []stretch) {
	p := d.plan
	if d.oneOf(given, Partition) == "" {
		return
	}
	f := Fault{Kind: Partition, Targets: links(d.nodes(), d.replicas()[p.Embedded%p.Replicas:]), For: p.TTL + p.TTL/4}
	d.place(&f, away, gates, time.Duration(p.Safety))
	p.Faults = slices.DeleteFunc(p.Faults, func(other Fault) bool {
		return other.Kind == Partition && stretch{time.Duration(f.At), f.Ends()}.crosses(&other)
	})
	p.Faults = append(p.Faults, f)
	d.call(check.UnknownOutcomes)
}

// place draws when a fault strikes: at some instant after the first TTL at which
// the leader is there and, if possible, none of the others goes on. It is healed
// by the end, if nothing delays it.
func (d *drawing) place(f *Fault, away stretch, others []stretch, end time.Duration) {
	var free, present []Duration
	for f.At = d.plan.TTL; f.Ends() < end; f.At += Duration(100 * time.Millisecond) {
		if away.crosses(f) {
			continue
		}
		present = append(present, f.At)
		if !slices.ContainsFunc(others, func(s stretch) bool { return s.crosses(f) }) {
			free = append(free, f.At)
		}
	}
	if len(free) == 0 {
		free = present
	}
	f.At = free[d.rng.IntN(len(free))]
}

// oneOf returns the first of the kinds that exist in the plan, and makes the
// first exist if none does and none were given.
func (d *drawing) oneOf(given bool, kinds ...string) string {
	for _, kind := range kinds {
		if slices.Contains(d.plan.Kinds, kind) {
			return kind
		}
	}
	if given {
		return ""
	}
	d.plan.Kinds = append(d.plan.Kinds, kinds[0])
	return kinds[0]
}
