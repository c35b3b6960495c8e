package holder

import (
	"time"

	"example.com/tenure"
)

// returns are the tenures that the holder hands back in the background: those
// of acquires that ended without knowing their outcome, and those that nobody
// serves. A key with one can't be acquired until the store has answered, so
// there is at most one a key. It is guarded by the holder's lock.
type returns struct {
	pending  map[string]tenure.Ending
	sending  bool
	failures int
	at       time.Duration // when the next call is due
}

// next returns when a call is due, if one is.
func (r *returns) next() (time.Duration, bool) {
	return r.at, len(r.pending) > 0 && !r.sending
}

// giveBack has a tenure released in the background, until an entry answers.
// The holder sends nothing else that could make or extend it any more. It is
// called with the lock held.
func (h *Holder) giveBack(ending tenure.Ending) {
	h.returns.pending[ending.Key] = ending
	h.hurryReturns()
}

// hurryReturns makes a call due now.
func (h *Holder) hurryReturns() {
	h.returns.at = h.clock.Now()
	h.nudge()
}

// sendReturns sends what is to be handed back, one batch at a time. It is
// called with the lock held.
func (h *Holder) sendReturns(now time.Duration) {
	at, ok := h.returns.next()
	if !ok || now < at {
		return
	}
	endings := make([]tenure.Ending, 0, min(len(h.returns.pending), most))
	for _, e := range h.returns.pending {
		if len(endings) == most {
			break
		}
		endings = append(endings, e)
	}
	h.returns.sending = true
	h.running.Go(func() { h.handBack(endings) })
}

// handBack releases a batch. Any answer settles an ending: lost says that the
// acquire wasn't applied, or that the tenure has ended already.
func (h *Holder) handBack(endings []tenure.Ending) {
	h.mu.Lock()
	failures := h.returns.failures
	h.mu.Unlock()
	ctx, cancel := h.attempt(h.life, h.cadence.callTimeout(failures))
	defer cancel()
	results := h.store.Release(ctx, tenure.ReleaseRequest{Owner: h.owner, Endings: endings})

	h.mu.Lock()
	defer h.mu.Unlock()
	unanswered := 0
	for i, e := range endings {
		if answered(resultAt(results, i).Err) {
			delete(h.returns.pending, e.Key)
		} else {
			unanswered++
		}
	}
	h.returns.sending = false
	h.returns.at = h.clock.Now()
	if unanswered == 0 {
		h.returns.failures = 0
	} else {
		h.returns.failures++
		h.returns.at += h.cadence.backoff(h.returns.failures)
	}
	h.nudge()
}
