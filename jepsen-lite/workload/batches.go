package workload

import (
	"context"
	"math/rand/v2"

	"example.com/tenure/holder"
	"example.com/tenure/jepsen-lite/plan"
)

// Of the keys that are held in batches, a replica tries for so many of the
// others' in a round, and ends so many tenures.
const (
	mostGuests = 8
	mostEnded  = 3
)

// A landlord holds a share of many keys, which its holder renews in batches,
// and tries for a few of those that belong to other replicas. What it loses
// while it stands still, and what it ends, is in the midst of its batches: the
// neighbours must not notice.
type landlord struct {
	*Process
	keys   []string
	mine   func(i int) bool // whether the i-th key belongs to this replica
	rng    *rand.Rand
	leases map[string]*holder.Lease
}

// batch makes the process hold its share of the keys that are held in batches.
func (p *Process) batch() {
	b := &landlord{Process: p, keys: p.cfg.Plan.KeysOf(plan.Batches), rng: p.rng("batches"), leases: make(map[string]*holder.Lease)}
	b.mine = func(i int) bool { return plan.ReplicaName(i%p.cfg.Plan.Replicas) == p.cfg.Name }
	p.work.Go(b.run)
}

func (b *landlord) run() {
	for b.sleep(between(b.rng, b.ttl()/8, b.ttl()/2)) {
		b.drop()
		b.acquire(b.missing())
		b.look()
		b.end()
	}
}

// drop lets leases go that are over.
func (b *landlord) drop() {
	for key, l := range b.leases {
		if l.Err() != nil {
			delete(b.leases, key)
		}
	}
}

// missing returns the keys of the share that are not held, and some of the
// others', which are neighbours.
func (b *landlord) missing() []string {
	var keys []string
	first := b.rng.IntN(len(b.keys))
	for i, key := range b.keys {
		guest := (i-first+len(b.keys))%len(b.keys) < mostGuests
		if (guest || b.mine(i)) && b.leases[key] == nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// acquire asks for keys, all in one batch.
func (b *landlord) acquire(keys []string) {
	ctx, cancel := context.WithTimeout(b.ctx, b.ttl())
	defer cancel()
	for _, a := range b.holder.AcquireMany(ctx, keys) {
		if a.Err == nil {
			b.leases[a.Key] = a.Lease
		}
	}
}

// look asks the gates, and writes a few of their answers down. A lease whose
// gate nobody asks is let go by its holder once it was resumed.
func (b *landlord) look() {
	for _, key := range b.keys {
		l := b.leases[key]
		if l == nil {
			continue
		}
		before := b.glance()
		if l.AssertHeld() == nil && b.rng.IntN(20) == 0 {
			b.gate(l, 0, 0, before)
		}
	}
}

// end releases a few tenures, some of them with their copies forgotten.
func (b *landlord) end() {
	ctx, cancel := context.WithTimeout(b.ctx, b.ttl())
	defer cancel()
	for range b.rng.IntN(mostEnded + 1) {
		l := b.leases[b.keys[b.rng.IntN(len(b.keys))]]
		if l == nil {
			continue
		}
		if b.rng.IntN(3) == 0 {
			_, _ = l.Forget(ctx) // the history has its answer
		}
		if err := l.Release(ctx); err != nil {
			b.note(l.Key(), err)
		}
	}
}
