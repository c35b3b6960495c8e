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
	from, to := d.loseLeader(given)
	d.loseHolder(given, from, to)
	slices.SortStableFunc(p.Faults, func(a, b Fault) int { return int(a.At - b.At) })
}

// writes reports whether replicas write to durable copies.
func (p *Plan) writes() bool { return p.Works(Contended) || p.Works(Ledger) }

func (d *drawing) call(rows ...string) {
	for _, row := range rows {
		d.plan.Coverage[row] = 1
	}
}

// loseLeader takes the leader away until another one leads and the log that it
// lacks is gone. Nothing else strikes nodes between the instants that it
// returns.
func (d *drawing) loseLeader(given bool) (from, to time.Duration) {
	p := d.plan
	f := Fault{Targets: []string{Leader}, For: Duration(nodeAway)}
	switch f.Kind = d.oneOf(given, Kill, Partition, Pause); f.Kind {
	case "":
		return 0, 0
	case Partition:
		f.Targets = both([]string{Leader}, d.nodes())
	}
	p.Snapshot = min(p.Snapshot, mostEntries)
	f.At = d.within(time.Duration(p.TTL)+calmAway, time.Duration(p.Safety)-nodeAway-calmAway)
	from, to = time.Duration(f.At)-calmAway, f.Ends()+calmAway
	p.Faults = slices.DeleteFunc(p.Faults, func(other Fault) bool {
		k, _ := kindOf(other.Kind)
		return (k.nodes || k.links || p.downs(k, &other)) && time.Duration(other.At) <= to && other.Ends() >= from
	})
	p.Faults = append(p.Faults, f)
	d.call(check.LeaderChanges, check.Snapshots, check.UnknownOutcomes)
	return from, to
}

// within draws an instant from low to less than high.
func (d *drawing) within(low, high time.Duration) Duration {
	return Duration((low + time.Duration(d.rng.Int64N(int64(high-low)))).Truncate(time.Millisecond))
}

// loseHolder lets replicas stand still, while they hold a key and write to it,
// for longer than a TTL, if possible not while the leader is away.
func (d *drawing) loseHolder(given bool, from, to time.Duration) {
	p := d.plan
	if p.writes() && d.oneOf(given, PauseGate) != "" {
		d.pauseAtGate(from, to)
		d.call(check.Takeovers, check.SecondGates, check.HolderPauses)
		return
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
}

// manyLapses is how many faults of replicas strike one that holds a key for
// sure.
const manyLapses = 5

// pauseAtGate has two replicas stand still in the midst of a write, one after
// the other: one may be let go by a holder that nobody waits behind.
func (d *drawing) pauseAtGate(from, to time.Duration) {
	p := d.plan
	room := (time.Duration(p.Safety) - 4*time.Duration(p.TTL)) / 3
	for i, point := range []string{BeforeWrite, AfterWrite} {
		replicas := d.replicas()[p.Embedded%p.Replicas:] // without a node, so that only they stand still
		f := Fault{Kind: PauseGate, Targets: d.some(replicas, 1), For: 2 * p.TTL, Point: point}
		for range 10 {
			first := time.Duration(p.TTL) + time.Duration(i)*room
			f.At = d.within(first, first+room)
			if time.Duration(f.At) > to || f.Ends() < from {
				break
			}
		}
		p.Faults = slices.DeleteFunc(p.Faults, func(other Fault) bool {
			k, _ := kindOf(other.Kind)
			return k.replicas && !k.nodes && other.At < f.At+f.For && other.Ends() > time.Duration(f.At) &&
				slices.Contains(other.Targets, f.Targets[0])
		})
		p.Faults = append(p.Faults, f)
	}
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
