package node

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"example.com/tenure"
	"example.com/tenure/fsm"
)

// A leaser is one way to the leader: the node itself while it leads, or a
// connection.
//
// Its answer has a result for each command. A result that is unavailable and
// not maybe applied is definite: the command can be sent again at will.
type leaser interface {
	lease(ctx context.Context, b batch) []tenure.Result
}

// A router sends a batch to the leader, wherever that is, until every command
// has an answer or ctx ends. It sends again what surely was not applied, and
// what may have been where a repeat gives the same answer: everything but a
// release, and the forget that goes with one, which must not be applied alone.
type router struct {
	// way returns the present way to the leader, or why there is none.
	way   func(ctx context.Context) (leaser, error)
	clock tenure.Clock
	// largest returns the largest TTL that the cluster grants, as far as it is
	// known here; the leader and the state machine have the last word.
	largest func() time.Duration
	// done is closed when the node or client that this is a part of has stopped,
	// and stopped says why: then no attempt is made any more.
	done    <-chan struct{}
	stopped func() error
}

// route blocks until every command has its result.
func (r *router) route(ctx context.Context, b batch) []tenure.Result {
	c := r.begin(b)
	for attempt := 0; len(c.open) > 0; attempt++ {
		c.try(ctx)
		if len(c.open) == 0 {
			break
		}
		if err := r.backOff(ctx, attempt); err != nil {
			c.giveUp(err)
		}
	}
	return c.results
}

// once makes one attempt.
func (r *router) once(ctx context.Context, b batch) []tenure.Result {
	c := r.begin(b)
	if len(c.open) > 0 {
		c.try(ctx)
	}
	c.giveUp(ctx.Err())
	return c.results
}

func (r *router) begin(b batch) *routing {
	n := len(b.commands)
	c := &routing{router: r, batch: b, results: make([]tenure.Result, n), maybe: make([]bool, n), since: r.clock.Now()}
	c.checkAll()
	return c
}

// A routing is one call of route.
type routing struct {
	*router
	batch   batch
	results []tenure.Result
	open    []int  // commands without an answer
	maybe   []bool // commands that an earlier attempt may have got applied
	since   time.Duration
	last    error // what the newest attempt said
}

// checkAll answers the invalid commands; they are not sent, nor is what goes as
// one with them.
func (c *routing) checkAll() {
	largest := c.largest()
	for i := 0; i < len(c.batch.commands); {
		end := c.batch.unit(i)
		err := c.batch.checkUnit(i, end, largest)
		for ; i < end; i++ {
			if c.results[i].Err = err; err == nil {
				c.open = append(c.open, i)
			}
		}
	}
}

// try makes one attempt for all that is open.
func (c *routing) try(ctx context.Context) {
	way, err := c.way(ctx)
	if err != nil {
		c.last = err
		return
	}
	attempt := c.batch.pick(c.open)
	if attempt.waits != nil {
		attempt.waits = c.waitsLeft(attempt.waits)
	}
	results := leaseInParts(ctx, way, attempt)
	still := c.open[:0]
	for n, i := range c.open {
		if c.batch.unit(i) > i+1 { // its release is the next that is open
			agree(c.batch.commands[i].Key, &results[n], &results[n+1])
		}
		if !c.settle(i, results[n]) {
			still = append(still, i)
		}
	}
	c.open = still
}

// waitsLeft takes the time that this call has spent already off the waits.
func (c *routing) waitsLeft(waits []time.Duration) []time.Duration {
	spent := c.clock.Now() - c.since
	left := make([]time.Duration, len(waits))
	for i, wait := range waits {
		left[i] = max(wait-spent, 0)
	}
	return left
}

// settle takes the result of command i, unless another attempt has to be made
// for it, and reports whether it did.
func (c *routing) settle(i int, result tenure.Result) bool {
	var unavailable *tenure.UnavailableError
	switch {
	case errors.As(result.Err, &unavailable):
		c.last = result.Err
		c.maybe[i] = c.maybe[i] || unavailable.MaybeApplied
		if !unavailable.MaybeApplied || !c.batch.releases(i) {
			return false
		}
	case c.maybe[i] && result.Err != nil:
		result.Err = afterUnknown(&c.batch.commands[i], result.Err)
	}
	c.results[i] = result
	return true
}

// releases reports whether command i is a release or the forget that goes with
// one.
func (b batch) releases(i int) bool {
	return b.commands[i].Kind == fsm.Release || b.unit(i) > i+1
}

// giveUp answers all that is open when the call ended.
func (c *routing) giveUp(cause error) {
	reason := "no answer before the call ended"
	if c.last != nil {
		reason = c.last.Error()
		var u *tenure.UnavailableError
		if errors.As(c.last, &u) {
			reason = u.Reason
		}
	}
	for _, i := range c.open {
		c.results[i].Err = &tenure.UnavailableError{Key: c.batch.commands[i].Key, MaybeApplied: c.maybe[i], Reason: reason, Err: cause}
	}
	c.open = nil
}

// Back-off between attempts: doubled each time, with full jitter, so that the
// callers of a lost leader don't come back in step.
const (
	backOffFirst = 10 * time.Millisecond
	backOffMost  = 100 * time.Millisecond
)

// backOff waits before the next attempt, or returns why there is none.
func (r *router) backOff(ctx context.Context, attempt int) error {
	d := min(backOffFirst<<min(attempt, 10), backOffMost)
	t := time.NewTimer(d/2 + rand.N(d))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-r.done:
		return r.stopped()
	}
}
