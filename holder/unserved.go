package holder

import (
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure"
)

// unserved returns why the lease must be let go now, or "". A holder must not
// keep a key from the others that it doesn't serve.
func (l *Lease) unserved(now time.Duration) string {
	switch {
	case l.phase >= ending:
		return ""
	case l.spent >= 2:
		return "the last two renewals were answered past their fence: the store answers too slowly for this TTL"
	case l.forgottenUntil != 0 && now >= l.forgottenUntil:
		return "it was to be forgotten, and neither a forget nor a release followed within a TTL"
	case l.untriedUntil != 0 && now >= l.untriedUntil:
		return "nobody used it for a TTL after it was resumed"
	}
	return ""
}

// letGo ends a lease that nobody serves, and has its tenure released in the
// background. It is called with the lock held, and no renewal on its way.
func (h *Holder) letGo(l *Lease, reason string) {
	h.note(hclog.Warn, "released a lease that nobody served", "key", l.key, "epoch", l.epoch, "reason", reason)
	h.finish(l, l.fencedFor(tenure.LeaseReleased, errors.New(reason)))
	h.giveBack(tenure.Ending{Key: l.key, Epoch: l.epoch})
}

// finish ends a handle: nothing more is sent about its tenure. It is called
// with the lock held.
func (h *Holder) finish(l *Lease, reason *tenure.FencedError) {
	l.phase = over
	l.gate.shutFor(reason)
	l.unbind()
	h.renewals.remove(&l.renewal)
	h.deadlines.remove(&l.deadline)
	delete(h.leases, l.key)
	close(l.done)
}
