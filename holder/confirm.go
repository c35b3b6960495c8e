package holder

import (
	"context"
	"errors"
	"time"

	"example.com/tenure"
)

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
			b.trail.unknown = true // the acquire was granted, and its release is still to come
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
