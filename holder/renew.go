package holder

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure"
)

// sendRenewals sends every renewal that is due, in batches of leases that have
// equally long to wait for an answer. It is called with the lock held.
func (h *Holder) sendRenewals(now time.Duration) {
	batches := make(map[time.Duration][]*Lease)
	for h.calls < mostCalls {
		l := h.renewals.due(now)
		if l == nil {
			break
		}
		l.sending = true
		late := 0
		if now >= l.fence {
			late = l.late + 1
		}
		timeout := h.cadence.renewalTimeout(late)
		batch := append(batches[timeout], l)
		if len(batch) == most {
			h.startRenewal(batch, timeout)
			batch = nil
		}
		batches[timeout] = batch
	}
	for timeout, batch := range batches {
		if len(batch) > 0 {
			h.startRenewal(batch, timeout)
		}
	}
}

func (h *Holder) startRenewal(batch []*Lease, timeout time.Duration) {
	h.calls++
	h.running.Go(func() { h.renew(batch, timeout) })
}

// renew sends one batch and takes in the answers.
func (h *Holder) renew(batch []*Lease, timeout time.Duration) {
	req := tenure.RenewRequest{Owner: h.owner, Renewals: make([]tenure.Renewal, len(batch))}
	for i, l := range batch {
		req.Renewals[i] = tenure.Renewal{Key: l.key, Epoch: l.epoch, TTL: h.cadence.ttl}
	}
	ctx, cancel := h.attempt(h.life, timeout)
	defer cancel()
	sentAt := h.clock.Now()
	results := h.store.Renew(ctx, req)
	h.settle(batch, results, sentAt)
}

// settle takes in the answers to a batch that was sent at sentAt.
func (h *Holder) settle(batch []*Lease, results []tenure.Result, sentAt time.Duration) {
	h.mu.Lock()
	defer h.unlock()
	now := h.clock.Now()
	var failed, resumed int
	var lastErr error
	again := make(map[int]time.Duration) // by number of failures: what fails together is retried together
	for i, l := range batch {
		result := resultAt(results, i)
		if h.settleOne(l, result, sentAt, now) {
			resumed++
		}
		if l.phase >= ending {
			continue
		}
		if l.failures == 0 {
			h.renewals.set(&l.renewal, h.cadence.nextRenewal(sentAt))
			continue
		}
		failed, lastErr = failed+1, result.Err
		if _, ok := again[l.failures]; !ok {
			again[l.failures] = h.cadence.nextTry(now, l.failures)
		}
		h.renewals.set(&l.renewal, again[l.failures])
	}
	h.calls--
	h.nudge()
	h.logTrouble(failed, lastErr)
	if resumed > 0 {
		h.note(hclog.Info, "resumed leases", "leases", resumed)
	}
}

// settleOne takes in the answer to one renewal, and reports whether it resumed
// the lease.
func (h *Holder) settleOne(l *Lease, result tenure.Result, sentAt, now time.Duration) (resumed bool) {
	l.sending = false
	if l.quiet != nil {
		close(l.quiet)
		l.quiet = nil
	}
	if l.phase >= ending {
		return false // an answer that comes after the release was called opens nothing
	}
	switch {
	case errors.Is(result.Err, tenure.ErrLost):
		h.lose(l, result.Err)
		return false
	case result.Err != nil:
		l.failures++
		if sentAt >= l.fence {
			l.late++
		}
	case !l.named(result.Grant.Record):
		h.lose(l, l.misnamed(result.Grant.Record))
		return false
	default:
		l.failures, l.late = 0, 0
		resumed = h.extend(l, result.Grant.TTL, sentAt, now)
	}
	h.review(l, now)
	return resumed
}

// extend moves the fence to where a renewal that was sent at sentAt allows it
// to be. If it had passed, that resumes the lease: the epoch is the same, so
// nobody else had the key.
func (h *Holder) extend(l *Lease, granted, sentAt, now time.Duration) (resumed bool) {
	passed := now >= l.fence
	l.unbindIfPast(now)
	l.granted = max(l.granted, granted)
	l.fence = max(l.fence, h.cadence.fence(sentAt, granted))
	if now >= l.fence {
		l.spent++
		return false
	}
	l.spent = 0
	resumed = passed && l.phase == serving
	if resumed && !l.gate.untried.Load() {
		l.gate.untried.Store(true) // before the gate opens, or a pass would be missed
		l.untriedUntil = now + h.cadence.ttl
	}
	l.gate.advance(l.fence)
	return resumed
}

// lose ends a lease whose tenure is over.
func (h *Holder) lose(l *Lease, cause error) {
	h.note(hclog.Warn, "lost a lease", "key", l.key, "epoch", l.epoch, "error", cause)
	h.finish(l, l.fencedFor(tenure.LeaseLost, cause))
}

// named reports whether a record is that of this tenure.
func (l *Lease) named(r tenure.Record) bool {
	return r.Key == l.key && r.Owner == l.holder.owner && r.Epoch == l.epoch && r.Held
}

// misnamed is the loss of a lease about which the store answered as if it were
// another.
func (l *Lease) misnamed(r tenure.Record) error {
	return &tenure.LostError{Key: l.key, Owner: l.holder.owner, Epoch: l.epoch, Record: r,
		Reason: fmt.Sprintf("the store answered for key %q, owner %q, epoch %d, held %t", r.Key, r.Owner, r.Epoch, r.Held)}
}

// logTrouble tells when the store stops or starts to answer renewals.
func (h *Holder) logTrouble(failed int, err error) {
	switch {
	case failed > 0 && !h.troubled:
		h.note(hclog.Warn, "renewals get no answer, trying on", "leases", failed, "error", err)
	case failed == 0 && h.troubled:
		h.note(hclog.Info, "renewals are answered again")
	}
	h.troubled = failed > 0
}
