package holder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/tenure"
)

// claim makes sure that a key has one handle in this holder, and returns the
// bids that have theirs. A bid that has to wait until an earlier tenure was
// handed back stays unclaimed.
func (h *Holder) claim(bids []*bid) (claimed []*bid) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range bids {
		if !b.claimed {
			h.claimOne(b)
		}
		if b.claimed {
			claimed = append(claimed, b)
		}
	}
	return claimed
}

func (h *Holder) claimOne(b *bid) {
	if l, ok := h.leases[b.key]; ok {
		b.result.Err = &tenure.HeldError{Record: l.record(), Remaining: l.Remaining()}
		return
	}
	if _, ok := h.acquiring[b.key]; ok {
		held := &tenure.HeldError{Record: tenure.Record{Key: b.key, Owner: h.owner, Held: true}}
		b.result.Err = fmt.Errorf("%s: this holder is acquiring it already: %w", b.key, held)
		return
	}
	if _, ok := h.returns.pending[b.key]; ok {
		b.trail.last = errors.New("its last tenure has still to be handed back")
		h.hurryReturns()
		return
	}
	h.acquiring[b.key] = struct{}{}
	b.claimed = true
}

// take makes a lease of a grant, if there is enough of it left.
func (h *Holder) take(ctx context.Context, b *bid, g tenure.Grant, sentAt time.Duration) {
	if r := g.Record; r.Key != b.key || r.Owner != h.owner || !r.Held || tenure.ValidateEpoch(r.Epoch) != nil {
		b.trail.unknown = true
		h.fail(b, &tenure.LostError{Key: b.key, Owner: h.owner, RequestID: b.id, Record: r,
			Reason: fmt.Sprintf("the acquire was answered for key %q, owner %q, epoch %d, held %t", r.Key, r.Owner, r.Epoch, r.Held)})
		return
	}
	b.epoch = g.Record.Epoch
	left := h.cadence.fence(sentAt, g.TTL) - h.clock.Now()
	switch {
	case b.wait && left < h.cadence.usable/2:
		h.confirm(ctx, b, g)
	case left <= 0:
		h.fail(b, h.eaten(b, g.Record))
	default:
		h.adopt(b, g, sentAt)
	}
}

// eaten is the loss of a grant that is of no use any more when it arrives.
func (h *Holder) eaten(b *bid, r tenure.Record) error {
	return &tenure.LostError{Key: b.key, Owner: h.owner, Epoch: b.epoch, Record: r,
		Reason: fmt.Sprintf("the answer took longer than a lease of %v with a margin of %v lasts, so it was handed back", h.cadence.ttl, h.cadence.margin)}
}

// confirm renews a grant that was waited for: what is left of it, counted from
// before the wait, is too little. If the tenure is lost meanwhile, the bid
// stays open, under a new request id.
func (h *Holder) confirm(ctx context.Context, b *bid, g tenure.Grant) {
	spent := 0
	for n := 0; ; n++ {
		sentAt, result := h.renewOne(ctx, b, n)
		switch err := result.Err; {
		case err == nil && result.Grant.Record.Epoch == b.epoch && result.Grant.Record.Owner == h.owner && result.Grant.Record.Key == b.key:
			if h.clock.Now() < h.cadence.fence(sentAt, result.Grant.TTL) {
				g.TTL = result.Grant.TTL
				h.adopt(b, g, sentAt)
				return
			}
			if spent++; spent == 2 {
				h.fail(b, h.eaten(b, g.Record))
				return
			}
		case err == nil || errors.Is(err, tenure.ErrLost):
			b.id, b.epoch, b.trail = newRequestID(), 0, trail{}
			return
		default:
			b.trail.add(err)
		}
		if !h.sleep(ctx, h.cadence.backoff(n+1)) {
			h.fail(b, b.trail.end(ctx, b.key, ""))
			return
		}
	}
}

func (h *Holder) renewOne(ctx context.Context, b *bid, n int) (sentAt time.Duration, _ tenure.Result) {
	call, cancel := h.attempt(ctx, h.cadence.callTimeout(n))
	defer cancel()
	sentAt = h.clock.Now()
	results := h.store.Renew(call, tenure.RenewRequest{
		Owner:    h.owner,
		Renewals: []tenure.Renewal{{Key: b.key, Epoch: b.epoch, TTL: h.cadence.ttl}},
	})
	return sentAt, resultAt(results, 0)
}

// adopt makes the bid's grant a lease and hands it to the keeper.
func (h *Holder) adopt(b *bid, g tenure.Grant, sentAt time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		h.failLocked(b, &tenure.UnavailableError{Key: b.key, MaybeApplied: true, Reason: "granted, and handed back", Err: ErrClosed})
		return
	}
	l := &Lease{
		holder:    h,
		key:       b.key,
		epoch:     g.Record.Epoch,
		forgotten: g.Record.ForgottenAtEpoch,
		done:      make(chan struct{}),
		granted:   g.TTL,
		fence:     h.cadence.fence(sentAt, g.TTL),
	}
	l.gate.fence.Store(int64(l.fence))
	l.renewal.lease, l.deadline.lease = l, l
	delete(h.acquiring, b.key)
	h.leases[b.key] = l
	if h.renewals.set(&l.renewal, h.cadence.firstRenewal(sentAt)) {
		h.nudge()
	}
	b.result.Lease = l
}

// fail settles a bid with an error, and hands back what it may have acquired.
func (h *Holder) fail(b *bid, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failLocked(b, err)
}

func (h *Holder) failLocked(b *bid, err error) {
	b.result.Err = err
	if !b.claimed {
		return
	}
	delete(h.acquiring, b.key)
	switch {
	case b.epoch != 0:
		h.giveBack(tenure.Ending{Key: b.key, Epoch: b.epoch})
	case b.trail.unknown:
		h.giveBack(tenure.Ending{Key: b.key, RequestID: b.id})
	}
}
