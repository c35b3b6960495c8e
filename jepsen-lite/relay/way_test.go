package relay

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// What is held by a cut passes as soon as it is healed; what is held for too
// long breaks.
func TestHeldByACut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, begun := newWay(), time.Now()
		cut := func(by int) { w.change(func(s *state) { s.cuts += by }) }
		cut(1)
		time.AfterFunc(time.Second, func() { cut(1) })
		time.AfterFunc(2*time.Second, func() { cut(-1) })
		time.AfterFunc(3*time.Second, func() { cut(-1) })
		if err := w.pass(nil, w.due(), 1, false); err != nil || time.Since(begun) != 3*time.Second {
			t.Errorf("two cuts, healed after 2 s and 3 s: passed after %v, %v", time.Since(begun), err)
		}
		cut(1)
		begun = time.Now()
		if err := w.pass(nil, w.due(), 1, false); !errors.Is(err, errVanished) || time.Since(begun) != Vanished {
			t.Errorf("never healed: %v after %v", err, time.Since(begun))
		}
		done := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(done) })
		if err := w.pass(done, w.due(), 1, false); !errors.Is(err, errOver) {
			t.Errorf("over before the heal: %v", err)
		}
	})
}

// A throttled way takes no more than its rate, and heals at once.
func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, begun := newWay(), time.Now()
		w.change(func(s *state) { s.rates = []int64{4000, 1000} })
		if n := w.slice(500); n != 50 {
			t.Errorf("%d bytes go at once, want what passes in 50 ms", n)
		}
		for range 5 {
			if err := w.pass(nil, w.due(), 500, false); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begun); took != 2*time.Second {
			t.Errorf("2,000 bytes before the last ones took %v at 1,000 a second", took)
		}
		time.AfterFunc(100*time.Millisecond, func() { w.change(func(s *state) { s.rates = nil }) })
		begun = time.Now()
		if err := w.pass(nil, w.due(), 500, false); err != nil || time.Since(begun) != 100*time.Millisecond {
			t.Errorf("healed after 100 ms: passed after %v, %v", time.Since(begun), err)
		}
	})
}

// The end of a connection does not pass while the way is half open, and its
// bytes do.
func TestHalfOpenHoldsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, begun := newWay(), time.Now()
		w.change(func(s *state) { s.halfOpen++ })
		if err := w.pass(nil, w.due(), 1, false); err != nil || time.Since(begun) != 0 {
			t.Errorf("a byte passed after %v, %v", time.Since(begun), err)
		}
		time.AfterFunc(2*Vanished, func() { w.change(func(s *state) { s.halfOpen-- }) })
		if err := w.pass(nil, w.due(), 0, true); err != nil || time.Since(begun) != 2*Vanished {
			t.Errorf("the end passed after %v, %v", time.Since(begun), err)
		}
	})
}
