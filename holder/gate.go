package holder

import (
	"math"
	"sync/atomic"
	"time"

	"example.com/tenure"
)

// shut is the fence of a gate that is closed for good. No clock reads less.
const shut = time.Duration(math.MinInt64)

// A gate is what a check loads and nothing else, so that checks on all cores
// share lines of memory that only a renewal writes. Everything but pass is
// called with the holder's lock held.
type gate struct {
	fence atomic.Int64 // a time.Duration: open while the clock reads less
	// untried says that no check has passed since the lease was resumed. The
	// first one that does puts it out; the others only load it.
	untried atomic.Bool
	// closed says why the gate is shut. It is set before the fence is, so that
	// who finds it shut finds the reason.
	closed atomic.Pointer[tenure.FencedError]
}

// pass reports whether the gate is open. The clock is read before the fence:
// a gate that was shut while the caller was between the two is seen shut.
func (g *gate) pass(clock tenure.Clock) bool {
	now := clock.Now()
	if now >= time.Duration(g.fence.Load()) {
		return false
	}
	if g.untried.Load() {
		g.untried.Store(false)
	}
	return true
}

// advance moves the fence forward. It never moves it back, nor opens a gate
// that is shut.
func (g *gate) advance(fence time.Duration) {
	if old := time.Duration(g.fence.Load()); old != shut && fence > old {
		g.fence.Store(int64(fence))
	}
}

// shutFor closes the gate for good. A later reason replaces the one before.
func (g *gate) shutFor(reason *tenure.FencedError) {
	g.closed.Store(reason)
	g.fence.Store(int64(shut))
}

// AssertHeld is the gate: nil says that, at an instant between the call and
// its return, nobody else could have been granted the key. Else it returns a
// [*tenure.FencedError] and nothing may be acknowledged.
//
// It is meant for a write path: it takes no lock, waits for nothing, allocates
// nothing when it passes, and reads the clock once. It can be called
// concurrently. What happens after it returns it can't vouch for: look after
// the work as well, or use [Lease.Do].
//
// A lease whose reason is [tenure.LeaseExpiredLocally] may be resumed by a
// later renewal, under the same epoch: nobody else had the key in between.
func (l *Lease) AssertHeld() error {
	if l.gate.pass(l.holder.clock) {
		return nil
	}
	return l.fenced()
}

// Remaining returns how long the gate stays open if no renewal succeeds: 0 if
// it is closed.
func (l *Lease) Remaining() time.Duration {
	now, fence := l.holder.clock.Now(), time.Duration(l.gate.fence.Load())
	if now >= fence { // not by their difference, which overflows where the clock has failed
		return 0
	}
	return fence - now
}

// fenced returns why the gate is closed.
func (l *Lease) fenced() *tenure.FencedError {
	if closed := l.gate.closed.Load(); closed != nil {
		return closed
	}
	return l.fencedFor(tenure.LeaseExpiredLocally, nil)
}

func (l *Lease) fencedFor(reason tenure.FenceReason, cause error) *tenure.FencedError {
	return &tenure.FencedError{Key: l.key, Owner: l.holder.owner, Epoch: l.epoch, Reason: reason, Err: cause}
}
