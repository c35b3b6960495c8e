package holder

import "time"

const (
	// mostCalls is how many renewals, each of a batch, are on their way at
	// once. What is due beyond that waits and makes the next batches larger.
	mostCalls = 16
	// lookout is how often the keeper looks at the clock while there are
	// leases: after a suspension the clock has jumped and the timers haven't.
	lookout = 500 * time.Millisecond
	// nap is the shortest time to wait: the timers of a clock may be a little
	// early by its own reading.
	nap = 10 * time.Microsecond
	// idle is how long the keeper sleeps when nothing is due.
	idle = time.Hour
)

// keep is the keeper: the one goroutine that renews all leases, in batches,
// cancels their contexts at the fence, lets go of those that nobody serves,
// and hands back what acquires left behind. It waits for nothing but its
// timer: each call to the store has a goroutine of its own, and their number
// is bounded.
func (h *Holder) keep() {
	for h.life.Err() == nil {
		timer := h.clock.AfterFunc(h.tick(), h.nudge)
		select {
		case <-h.nudged:
		case <-h.life.Done():
		}
		timer.Stop()
	}
}

// nudge makes the keeper look again.
func (h *Holder) nudge() {
	select {
	case h.nudged <- struct{}{}:
	default: // it will look already
	}
}

// tick does what is due and returns how long until something else is.
func (h *Holder) tick() time.Duration {
	h.mu.Lock()
	defer h.unlock()
	if h.closed {
		return idle
	}
	now := h.clock.Now()
	for l := h.deadlines.due(now); l != nil; l = h.deadlines.due(now) {
		h.review(l, now)
	}
	h.sendRenewals(now)
	h.sendReturns(now)
	return h.untilNext(now)
}

func (h *Holder) untilNext(now time.Duration) time.Duration {
	wait := idle
	if at, ok := h.renewals.earliest(); ok && h.calls < mostCalls {
		wait = min(wait, at-now)
	}
	if at, ok := h.deadlines.earliest(); ok {
		wait = min(wait, at-now)
	}
	if len(h.leases) > 0 {
		wait = min(wait, lookout)
	}
	if at, ok := h.returns.next(); ok {
		wait = min(wait, at-now)
	}
	return max(wait, nap)
}

// review does what the fence and the rules about a lease that nobody serves
// ask for now, and marks when to look again. It is called with the lock held.
func (h *Holder) review(l *Lease, now time.Duration) {
	l.unbindIfPast(now)
	if !l.gate.untried.Load() {
		l.untriedUntil = 0
	}
	if !l.sending {
		if reason := l.unserved(now); reason != "" {
			h.letGo(l, reason)
			return
		}
	}
	next, ok := l.nextDeadline(now)
	if !ok {
		h.deadlines.remove(&l.deadline)
		return
	}
	if h.deadlines.set(&l.deadline, next) {
		h.nudge()
	}
}

// nextDeadline returns when the lease is to be reviewed. What has passed
// already waits for the renewal that is on its way, which ends in a review.
func (l *Lease) nextDeadline(now time.Duration) (next time.Duration, ok bool) {
	consider := func(at time.Duration) {
		if at > now && (!ok || at < next) {
			next, ok = at, true
		}
	}
	if l.bound.live.Load() != nil {
		consider(l.fence)
	}
	consider(l.untriedUntil)
	consider(l.forgottenUntil)
	return next, ok
}
