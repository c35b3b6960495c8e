package workload

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

// A changer contends for one key as an owner of its own, straight over the
// store, and asks for another TTL every time. Shorter ones must change nothing,
// longer ones hold from then on: holders, which ask for one and the same, never
// show that.
type changer struct {
	*Process
	key, owner string
	rng        *rand.Rand
	asks       int
	lasts      time.Duration // the TTL that holds, by the rule that it never shrinks
}

// changeTTLs makes the process contend for the keys whose TTLs change.
func (p *Process) changeTTLs() {
	for _, key := range p.cfg.Plan.KeysOf(plan.TTLs) {
		c := &changer{Process: p, key: key, owner: p.holder.Owner() + "+" + key, rng: p.rng(key)}
		p.work.Go(c.run)
	}
	p.work.Go(p.nudge)
}

// nudge renews leases of the process's holder under other TTLs, behind its
// back: the fences that it has stand all the same.
func (p *Process) nudge() {
	rng := p.rng("nudge")
	for p.sleep(between(rng, 10*time.Millisecond, p.ttl())) {
		l, ok := p.holder.Lookup(plan.KeyName(rng.IntN(p.cfg.Plan.Keys)))
		if !ok {
			continue
		}
		ctx, cancel := context.WithTimeout(p.ctx, p.ttl())
		p.store.Renew(ctx, tenure.RenewRequest{Owner: l.Owner(), Renewals: []tenure.Renewal{{Key: l.Key(), Epoch: l.Epoch(), TTL: otherTTL(rng, p.ttl())}}})
		cancel()
	}
}

// otherTTL draws a TTL from half of the usual, and that one often, to one and a
// half times it, but never the usual itself, by which a holder's own renewals are
// known. In a shorter one the jumps of clocks that the usual bears may be too
// many.
func otherTTL(rng *rand.Rand, usual time.Duration) time.Duration {
	shortest := max((usual / 2).Truncate(time.Millisecond), tenure.MinTTL)
	if rng.IntN(3) == 0 {
		return shortest
	}
	ttl := between(rng, shortest, 3*usual/2).Truncate(time.Millisecond)
	if ttl == usual {
		ttl += time.Millisecond
	}
	return ttl
}

func (c *changer) run() {
	for c.sleep(between(c.rng, 5*time.Millisecond, 80*time.Millisecond)) {
		c.asks++
		c.lasts = 0
		id := strconv.Itoa(c.asks)
		r := c.acquire(id)
		var unavailable *tenure.UnavailableError
		switch {
		case r.Err == nil:
			c.keep(id, r.Grant.Record.Epoch)
		case errors.As(r.Err, &unavailable) && unavailable.MaybeApplied:
			c.release(tenure.Ending{Key: c.key, RequestID: id})
		}
	}
}

// keep renews a tenure, by repeating its acquire or by its epoch, until it is
// lost or has lasted long enough. Sometimes nobody is told that it has.
func (c *changer) keep(id string, epoch uint64) {
	for n := c.rng.IntN(15); n > 0; n-- {
		if !c.sleep(between(c.rng, time.Millisecond, c.lasts/3)) {
			return
		}
		var r tenure.Result
		if c.rng.IntN(4) == 0 {
			r = c.acquire(id)
		} else {
			r = c.renew(epoch)
		}
		if errors.Is(r.Err, tenure.ErrLost) {
			return
		}
	}
	if c.rng.IntN(3) > 0 {
		c.release(tenure.Ending{Key: c.key, Epoch: epoch})
		return
	}
	c.record(history.Event{Kind: history.Stop, Key: c.key, Owner: c.owner, Epoch: epoch, Msg: "left to expire"})
}

func (c *changer) acquire(id string) tenure.Result {
	ask := tenure.Ask{Key: c.key, RequestID: id, TTL: otherTTL(c.rng, c.ttl())}
	if c.rng.IntN(3) == 0 {
		ask.Wait = between(c.rng, 10*time.Millisecond, c.ttl())
	}
	return c.ask(func(ctx context.Context) []tenure.Result {
		return c.store.Acquire(ctx, tenure.AcquireRequest{Owner: c.owner, Asks: []tenure.Ask{ask}})
	})
}

func (c *changer) renew(epoch uint64) tenure.Result {
	renewal := tenure.Renewal{Key: c.key, Epoch: epoch, TTL: otherTTL(c.rng, c.ttl())}
	return c.ask(func(ctx context.Context) []tenure.Result {
		return c.store.Renew(ctx, tenure.RenewRequest{Owner: c.owner, Renewals: []tenure.Renewal{renewal}})
	})
}

// release ends a tenure, or hands back what an acquire may have left. It tries
// once: if that fails, the TTL ends it.
func (c *changer) release(of tenure.Ending) {
	c.ask(func(ctx context.Context) []tenure.Result {
		return c.store.Release(ctx, tenure.ReleaseRequest{Owner: c.owner, Endings: []tenure.Ending{of}})
	})
}

// ask sends a batch of one, and gives up after a while.
func (c *changer) ask(send func(ctx context.Context) []tenure.Result) tenure.Result {
	ctx, cancel := context.WithTimeout(c.ctx, 2*c.ttl())
	defer cancel()
	r := send(ctx)[0]
	c.lasts = max(c.lasts, r.Grant.TTL)
	return r
}
