package holder_test

import (
	"math"
	"sync/atomic"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
)

// A failingClock reads what the boot clock does when the system refuses to read
// it: an instant behind every fence.
type failingClock struct {
	tenure.Clock
	failed atomic.Bool
}

// Now implements [tenure.Clock].
func (c *failingClock) Now() time.Duration {
	if c.failed.Load() {
		return math.MaxInt64
	}
	return c.Clock.Now()
}

// Goal: a clock that can't be read any more closes every gate, and neither a
// renewal that is answered nor another acquire opens one: a fence that is
// counted from there would lie before everything.
func TestFailingClockClosesGates(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		clock := &failingClock{Clock: b.clock}
		h := b.make(holder.Config{Replica: "replica-2", TTL: ttl, Margin: margin, Clock: clock})
		lease, err := h.Acquire(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		clock.failed.Store(true)
		if got := reasonOf(lease.AssertHeld()); got != tenure.LeaseExpiredLocally {
			t.Errorf("the gate is %q", got)
		}
		for range 20 {
			time.Sleep(ttl / 10) // renewals are answered meanwhile
			if lease.AssertHeld() == nil || lease.Remaining() != 0 {
				t.Fatal("a renewal opened the gate")
			}
		}
		if lease, err := h.Acquire(b.within(time.Minute), "another"); err == nil {
			t.Errorf("a grant opened a gate for %v", lease.Remaining())
		}
		clock.failed.Store(false) // so that the holder can be closed
	})
}
