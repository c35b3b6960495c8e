package holder

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.com/tenure"
)

// Acquire asks for a key and doesn't wait in line: if another tenure has it,
// the error is a [*tenure.HeldError]. While the store can't answer it tries
// again, under the same request id, until ctx ends; the error is then a
// [*tenure.UnavailableError] that matches ctx's error as well. A grant that
// took so long on the way that nothing of it is left is handed back, and the
// error is a [*tenure.LostError].
//
// Exactly one of lease and error is nil. After an error the holder sees to it,
// in the background and until Close, that no tenure stays behind.
//
// A key that the holder has already, or is acquiring, is refused as held
// without asking the store.
func (h *Holder) Acquire(ctx context.Context, key string) (*Lease, error) {
	r := h.acquire(ctx, []string{key}, false)[0]
	return r.Lease, r.Err
}

// AcquireWait asks for a key and waits in line for it until ctx ends. In all
// else it is as Acquire. If the key was held all the time, the error matches
// both [tenure.ErrHeld] and ctx's error; the wait ends a moment before ctx's
// deadline, so that the store can say so.
func (h *Holder) AcquireWait(ctx context.Context, key string) (*Lease, error) {
	r := h.acquire(ctx, []string{key}, true)[0]
	return r.Lease, r.Err
}

// An Acquired is what became of one key of AcquireMany: a lease or an error.
type Acquired struct {
	Key   string
	Lease *Lease
	Err   error
}

// AcquireMany asks for many keys at once, as Acquire does for one, and returns
// a result for each, in order. They go to the store in batches, and the
// refusal of one says nothing about the others. It returns when every key has
// its result; leases that were granted early are renewed meanwhile. A key that
// stands in the list twice is refused as held the second time.
func (h *Holder) AcquireMany(ctx context.Context, keys []string) []Acquired {
	return h.acquire(ctx, keys, false)
}

// A bid is one key on its way to become a lease.
type bid struct {
	key     string
	id      string // the request id, the same in all attempts
	wait    bool   // in line
	claimed bool   // nobody else in this holder can have the key now
	epoch   uint64 // of a grant that came too late to be used as it is, or 0
	held    error  // the last answer, if it was that somebody else has the key
	trail   trail
	result  *Acquired
}

func (b *bid) settled() bool { return b.result.Lease != nil || b.result.Err != nil }

func (h *Holder) acquire(ctx context.Context, keys []string, wait bool) []Acquired {
	results := make([]Acquired, len(keys))
	bids := make([]*bid, 0, len(keys))
	for i, key := range keys {
		results[i] = Acquired{Key: key, Err: tenure.ValidateKey(key)}
		if results[i].Err == nil {
			bids = append(bids, &bid{key: key, id: newRequestID(), wait: wait, result: &results[i]})
		}
	}
	ctx, leave := h.enter(ctx)
	if leave == nil {
		for _, b := range bids {
			b.result.Err = closedError(b.key)
		}
		return results
	}
	defer leave()
	h.pursue(ctx, bids)
	return results
}

// newRequestID returns an id that no other acquire has. It is random, not
// counted: a virtual machine that was copied while it ran has two holders of
// one owner.
func newRequestID() string { return rand.Text() }

func closedError(key string) error {
	return &tenure.UnavailableError{Key: key, Reason: "nothing was sent", Err: ErrClosed}
}

// pursue makes attempts until every bid is settled.
func (h *Holder) pursue(ctx context.Context, bids []*bid) {
	for n := 0; ; n++ {
		if ctx.Err() != nil {
			h.giveUp(ctx, bids)
			return
		}
		h.askAll(ctx, h.claim(bids), n)
		bids = unsettled(bids)
		if len(bids) == 0 {
			return
		}
		h.sleep(ctx, h.cadence.backoff(n+1))
	}
}

func (h *Holder) giveUp(ctx context.Context, bids []*bid) {
	for _, b := range bids {
		if b.held != nil && !b.trail.unknown {
			h.fail(b, fmt.Errorf("%w; waited until the context ended: %w", b.held, ctx.Err()))
			continue
		}
		h.fail(b, b.trail.end(ctx, b.key, ""))
	}
}

func unsettled(bids []*bid) []*bid {
	var open []*bid
	for _, b := range bids {
		if !b.settled() {
			open = append(open, b)
		}
	}
	return open
}

// askAll makes the nth attempt at all bids, in batches.
func (h *Holder) askAll(ctx context.Context, bids []*bid, n int) {
	if len(bids) <= most {
		h.ask(ctx, bids, n)
		return
	}
	var batches sync.WaitGroup
	for len(bids) > 0 {
		batch := bids[:min(most, len(bids))]
		bids = bids[len(batch):]
		batches.Go(func() { h.ask(ctx, batch, n) })
	}
	batches.Wait()
}

// ask makes one attempt at a batch. Its fence counts from before it is sent:
// an answer always is to an entry of this very call.
func (h *Holder) ask(ctx context.Context, bids []*bid, n int) {
	if len(bids) == 0 {
		return
	}
	var longest time.Duration
	req := tenure.AcquireRequest{Owner: h.owner, Asks: make([]tenure.Ask, len(bids))}
	for i, b := range bids {
		req.Asks[i] = tenure.Ask{Key: b.key, RequestID: b.id, TTL: h.cadence.ttl}
		if b.wait {
			req.Asks[i].Wait = waitFor(ctx)
			longest = max(longest, req.Asks[i].Wait)
		}
	}
	call, cancel := h.attempt(ctx, longest+h.cadence.callTimeout(n))
	defer cancel()
	sentAt := h.clock.Now()
	results := h.store.Acquire(call, req)
	for i, b := range bids {
		h.answer(ctx, b, resultAt(results, i), sentAt)
	}
}

// parting is the most by which a wait ends before its context's deadline.
const parting = 100 * time.Millisecond

// waitFor returns how long to stand in line: not quite until ctx's deadline,
// so that the store can still answer that the key was held all the time.
func waitFor(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return tenure.MaxWait
	}
	left := time.Until(deadline)
	wait := left - min(left/10, parting)
	return max(0, min(wait, tenure.MaxWait).Truncate(time.Millisecond))
}

// waitedOut reports whether so little is left of ctx that a wait which ended
// was the last.
func waitedOut(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) <= parting
}

// answer takes in the answer to one ask that was sent at sentAt.
func (h *Holder) answer(ctx context.Context, b *bid, result tenure.Result, sentAt time.Duration) {
	switch err := result.Err; {
	case err == nil:
		h.take(ctx, b, result.Grant, sentAt)
	case errors.Is(err, tenure.ErrLost):
		b.trail = trail{} // this id has no tenure and will have none
		if b.wait {
			b.id = newRequestID()
			return
		}
		h.fail(b, err)
	case errors.Is(err, tenure.ErrHeld) && b.wait:
		b.held = err
		if waitedOut(ctx) {
			h.fail(b, fmt.Errorf("%w; waited until the context's deadline: %w", err, context.DeadlineExceeded))
		}
	case answered(err):
		h.fail(b, err)
	default:
		b.trail.add(err)
	}
}
