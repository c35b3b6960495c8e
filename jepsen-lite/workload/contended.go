package workload

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
	"example.com/tenure/jepsen-lite/plan"
)

// A contender is a replica's wish for one key. It takes the key when it can,
// waiting in line or not, recovers the durable copy, writes to it for a while
// and gives the key up.
type contender struct {
	*Process
	key   string
	rng   *rand.Rand
	layer func() durable // for each tenure
	pause time.Duration  // between two writes, at most
	work  int            // writes and reads of a tenure, less than this
	// forgot says that something was forgotten, so that it need not be at the
	// next chance.
	forgot bool
}

// contend makes the process contend for the plan's keys.
func (p *Process) contend() {
	for _, key := range p.cfg.Plan.KeysOf(plan.Contended) {
		c := &contender{Process: p, key: key, rng: p.rng(key), pause: 60 * time.Millisecond, work: 150}
		c.layer = func() durable { return &copies{p, p.rng("steps of " + key)} }
		p.work.Go(c.run)
	}
}

// between draws a duration from low to less than high.
func between(rng *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(rng.Int64N(int64(high-low)))
}

func (c *contender) run() {
	for c.sleep(between(c.rng, 5*time.Millisecond, 80*time.Millisecond)) {
		lease, err := c.acquire()
		if err != nil {
			continue
		}
		t := &tenant{c.Process, lease, c.layer()}
		c.serve(t)
		t.layer.close()
	}
}

func (c *contender) acquire() (*holder.Lease, error) {
	ctx, cancel := context.WithTimeout(c.ctx, between(c.rng, 100*time.Millisecond, 3*c.ttl()))
	defer cancel()
	if c.rng.IntN(2) == 0 {
		return c.holder.AcquireWait(ctx, c.key)
	}
	return c.holder.Acquire(ctx, c.key)
}

// serve works under a lease until it is over or given up.
func (c *contender) serve(t *tenant) {
	err := t.recover()
	for n := c.rng.IntN(c.work); n > 0 && err == nil; n-- {
		if c.rng.IntN(8) == 0 {
			err = t.read()
		} else {
			err = t.write()
		}
		if resumable(err) {
			err = nil
		}
		if !c.sleep(between(c.rng, c.pause/30, c.pause)) {
			return
		}
	}
	c.giveUp(t)
}

// resumable reports whether a later renewal may open the gate again.
func resumable(err error) bool {
	var fenced *tenure.FencedError
	return errors.As(err, &fenced) && fenced.Reason == tenure.LeaseExpiredLocally
}
