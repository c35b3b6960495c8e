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
// recovers the durable copy, writes to it for a while and gives the key up.
type contender struct {
	*Process
	key string
	rng *rand.Rand
}

// contend makes the process contend for all keys of the plan.
func (p *Process) contend() {
	for i := range p.cfg.Plan.Keys {
		key := plan.KeyName(i)
		c := &contender{Process: p, key: key, rng: p.rng(key)}
		p.work.Go(c.run)
	}
}

func (c *contender) between(low, high time.Duration) time.Duration {
	return low + time.Duration(c.rng.Int64N(int64(high-low)))
}

// step is how long one step of the durable layer takes.
func (c *contender) step() time.Duration { return c.between(200*time.Microsecond, 4*time.Millisecond) }

func (c *contender) run() {
	for c.sleep(c.between(5*time.Millisecond, 80*time.Millisecond)) {
		lease, err := c.acquire()
		if err != nil {
			continue
		}
		c.serve(lease)
	}
}

func (c *contender) acquire() (*holder.Lease, error) {
	ctx, cancel := context.WithTimeout(c.ctx, c.between(100*time.Millisecond, 3*c.ttl()))
	defer cancel()
	if c.rng.IntN(2) == 0 {
		return c.holder.AcquireWait(ctx, c.key)
	}
	return c.holder.Acquire(ctx, c.key)
}

// serve works under a lease until it is over or given up.
func (c *contender) serve(l *holder.Lease) {
	err := c.recover(l, c.step)
	for n := c.rng.IntN(150); n > 0 && err == nil; n-- {
		if c.rng.IntN(8) == 0 {
			err = c.read(l, c.step)
		} else {
			err = c.write(l, c.step)
		}
		if resumable(err) {
			err = nil
		}
		if !c.sleep(c.between(2*time.Millisecond, 60*time.Millisecond)) {
			return
		}
	}
	c.giveUp(l)
}

// resumable reports whether a later renewal may open the gate again.
func resumable(err error) bool {
	var fenced *tenure.FencedError
	return errors.As(err, &fenced) && fenced.Reason == tenure.LeaseExpiredLocally
}

// giveUp ends a tenure, and sometimes forgets the key's copies first.
func (c *contender) giveUp(l *holder.Lease) {
	ctx, cancel := context.WithTimeout(c.ctx, 2*c.ttl())
	defer cancel()
	if c.rng.IntN(4) == 0 {
		for {
			_, err := l.Forget(ctx)
			if err == nil || ctx.Err() != nil || errors.Is(err, tenure.ErrFenced) || errors.Is(err, tenure.ErrLost) {
				break
			}
		}
	}
	if err := l.Release(ctx); err != nil {
		c.note(c.key, err)
	}
	select {
	case <-l.Done():
	case <-c.ctx.Done():
	}
}
