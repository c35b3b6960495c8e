package holder

import (
	"context"
	"errors"
	"math"

	"example.com/tenure"
)

// Forget declares all durable copies of the key dead, those of this tenure
// included, and returns the key's record. From the call on the gate is closed
// for good, whatever comes of it: what was written after it would be dead.
//
// While the store can't answer, Forget tries again until ctx ends; the error
// is then a [*tenure.UnavailableError]. The tenure goes on and is renewed, so
// that Forget can be called again: call it until it succeeds, and then
// Release. A lease with neither for a TTL is released by the holder.
//
// If the tenure is over at the call the error is a [*tenure.FencedError], and
// this call forgot nothing. If it ends meanwhile, the error is a
// [*tenure.LostError] and this call forgot nothing either, but for one case:
// where the outcome of an earlier attempt was unknown the key may be forgotten,
// and the error is a [*tenure.UnavailableError] that says so.
func (l *Lease) Forget(ctx context.Context) (tenure.Record, error) {
	h := l.holder
	if err := l.Err(); err != nil {
		return tenure.Record{}, err
	}
	ctx, leave := h.enter(ctx)
	if leave == nil {
		return tenure.Record{}, closedError(l.key)
	}
	defer leave()
	if err := h.beginForget(l); err != nil {
		return tenure.Record{}, err
	}
	defer h.endForget(l)

	var record tenure.Record
	unknown, err := h.insist(ctx, l.key, math.MaxInt64, func(ctx context.Context) error {
		if err := l.Err(); err != nil {
			return &tenure.LostError{Key: l.key, Owner: h.owner, Epoch: l.epoch, Reason: err.Error()}
		}
		result := resultAt(h.store.Forget(ctx, tenure.ForgetRequest{
			Owner:   h.owner,
			Tenures: []tenure.Tenure{{Key: l.key, Epoch: l.epoch}},
		}), 0)
		record = result.Grant.Record
		return result.Err
	})
	return h.settleForget(l, record, unknown, err)
}

// beginForget closes the gate for good.
func (h *Holder) beginForget(l *Lease) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.phase >= ending {
		return l.fenced()
	}
	if l.phase == serving {
		l.phase = forgetting
		l.gate.shutFor(l.fencedFor(tenure.LeaseReleased, errors.New("it is to be forgotten")))
		l.unbind()
	}
	l.forgets++
	l.forgottenUntil, l.untriedUntil = 0, 0
	return nil
}

// settleForget takes in the last answer. unknown says that an attempt before it
// may have been applied.
func (h *Holder) settleForget(l *Lease, record tenure.Record, unknown bool, err error) (tenure.Record, error) {
	if err == nil && !l.named(record) {
		err = l.misnamed(record)
	}
	if err == nil {
		return record, nil
	}
	if errors.Is(err, tenure.ErrLost) {
		h.mu.Lock()
		defer h.unlock()
		if l.phase < ending {
			h.lose(l, err)
		}
		if unknown && !l.unforgotten(err) {
			err = &tenure.UnavailableError{Key: l.key, MaybeApplied: true,
				Reason: "an earlier attempt of this forget has no known outcome; the last one: " + err.Error()}
		}
	}
	return tenure.Record{}, err
}

// unforgotten reports whether the answer that the tenure is over says as well
// that it was not forgotten: its record is there, and nothing can raise the
// forgotten epoch to that of a tenure that is over.
func (l *Lease) unforgotten(err error) bool {
	var lost *tenure.LostError
	return errors.As(err, &lost) && lost.Record.Key == l.key && lost.Record.ForgottenAtEpoch < l.epoch
}

// endForget starts the time within which a retry or a release must follow.
func (h *Holder) endForget(l *Lease) {
	h.mu.Lock()
	defer h.unlock()
	if l.forgets--; l.forgets > 0 || l.phase != forgetting {
		return
	}
	now := h.clock.Now()
	l.forgottenUntil = now + h.cadence.ttl
	h.review(l, now)
}
