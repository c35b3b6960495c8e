package holder

import (
	"context"
	"errors"
	"sync"
	"time"

	"example.com/tenure"
)

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
	case errors.Is(err, tenure.ErrHeld) && b.trail.unknown:
		// An earlier attempt may still be under way to the store, so this is
		// not the definite 'held', not even as a cause.
		h.fail(b, &tenure.UnavailableError{Key: b.key, MaybeApplied: true,
			Reason: "an earlier attempt of this acquire has no known outcome; the last one: " + err.Error()})
	case answered(err):
		h.fail(b, err)
	default:
		b.trail.add(err)
	}
}

// parting is the most by which a wait in line ends before its context's
// deadline.
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
