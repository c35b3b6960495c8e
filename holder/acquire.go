package holder

import (
	"context"
	"crypto/rand"
	"fmt"

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
// without asking the store. One that it has still to hand back, from an acquire
// of unknown outcome, waits for that first.
func (h *Holder) Acquire(ctx context.Context, key string) (*Lease, error) {
	r := h.acquire(ctx, []string{key}, false)[0]
	return r.Lease, r.Err
}

// AcquireWait asks for a key and waits in line for it until ctx ends. In all
// else it is as Acquire. If the store said last that the key was held, the
// error matches both [tenure.ErrHeld] and ctx's error; the place in line is
// given up a moment before ctx's deadline, so that the store can say so.
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
