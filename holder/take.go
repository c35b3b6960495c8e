package holder

import (
	"context"
	"fmt"
	"time"

	"example.com/tenure"
)

// take makes a lease of a grant, if there is enough of it left.
func (h *Holder) take(ctx context.Context, b *bid, g tenure.Grant, sentAt time.Duration) {
	if r := g.Record; r.Key != b.key || r.Owner != h.owner || !r.Held || tenure.ValidateEpoch(r.Epoch) != nil {
		b.trail.unknown = true
		h.fail(b, &tenure.LostError{Key: b.key, Owner: h.owner, RequestID: b.id, Record: r,
			Reason: fmt.Sprintf("the acquire was answered for key %q, owner %q, epoch %d, held %t", r.Key, r.Owner, r.Epoch, r.Held)})
		return
	}
	b.epoch = g.Record.Epoch
	fence, now := h.cadence.fence(sentAt, g.TTL), h.clock.Now()
	left := fence - now
	if now >= fence { // not by their difference, which overflows where the clock has failed
		left = 0
	}
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
