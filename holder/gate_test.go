package holder_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
	"example.com/tenure/holder/holdertest"
)

func reasonOf(err error) tenure.FenceReason {
	var fenced *tenure.FencedError
	if errors.As(err, &fenced) {
		return fenced.Reason
	}
	return ""
}

// Goal: the gate closes at the fence, which counts from before the newest
// request that was answered, to the nanosecond and without any answer to the
// requests that follow.
func TestGateClosesAtTheFence(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.put(silence)
		time.Sleep(ttl - margin - 1)
		if err := lease.AssertHeld(); err != nil {
			t.Errorf("a nanosecond before the fence: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if got := reasonOf(lease.AssertHeld()); got != tenure.LeaseExpiredLocally {
			t.Errorf("at the fence: %q", got)
		}
		if left := lease.Remaining(); left != 0 {
			t.Errorf("at the fence %v remain", left)
		}
		if lease.Err() != nil {
			t.Errorf("the tenure is not over, but Err is %v", lease.Err())
		}
	})
}

// Goal: a suspended host's holder wakes up fenced. Its timers stood still, so
// the very next check has to see it by the clock; the context follows soon.
func TestGateClosesAfterSuspension(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		ctx := lease.Context()
		b.store.put(silence)
		time.Sleep(time.Millisecond) // the keeper sleeps, too
		b.clock.suspend(10 * ttl)
		if got := reasonOf(lease.AssertHeld()); got != tenure.LeaseExpiredLocally {
			t.Errorf("after the suspension: %q", got)
		}
		if err := lease.Do(t.Context(), func(context.Context) error { t.Error("Do called f"); return nil }); !errors.Is(err, tenure.ErrFenced) {
			t.Errorf("Do: %v", err)
		}
		time.Sleep(time.Second / 2)
		synctest.Wait()
		if reasonOf(context.Cause(ctx)) != tenure.LeaseExpiredLocally {
			t.Errorf("the context's cause is %v", context.Cause(ctx))
		}
	})
}

// Goal: a gate that closed and was opened again before any timer noticed has
// ended its context: work that saw nothing of it may have been interrupted.
func TestContextEndsAlthoughResumedAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		ctx := lease.Context()
		b.store.put(later(100 * time.Millisecond))
		for len(b.store.sent(renew)) == 0 {
			time.Sleep(time.Millisecond)
		}
		b.clock.suspend(lease.Remaining()) // past the old fence, within the new
		time.Sleep(101 * time.Millisecond)
		if err := lease.AssertHeld(); err != nil {
			t.Errorf("not resumed: %v", err)
		}
		if reasonOf(context.Cause(ctx)) != tenure.LeaseExpiredLocally {
			t.Errorf("the context's cause is %v", context.Cause(ctx))
		}
	})
}

// Goal: a suspension inside Do is noticed by its second gate.
func TestDoNoticesSuspension(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		err := lease.Do(t.Context(), func(context.Context) error {
			b.clock.suspend(ttl)
			return nil
		})
		if reasonOf(err) != tenure.LeaseExpiredLocally {
			t.Errorf("got %v", err)
		}
	})
}

// Goal: a pass allocates nothing, whatever the clock.
func TestGateAllocatesNothing(t *testing.T) {
	for name, clock := range clocks() {
		h, err := holder.New(holder.Config{Store: holdertest.NewStore(clock), Replica: "r", Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		lease, err := h.Acquire(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(1000, func() {
			if err := lease.AssertHeld(); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func clocks() map[string]tenure.Clock {
	return map[string]tenure.Clock{"boot": holder.BootClock(), "monotonic": tenure.MonotonicClock()}
}

// Goal: the boot clock goes on, and its timers fire.
func TestBootClock(t *testing.T) {
	clock := holder.BootClock()
	before := clock.Now()
	fired := make(chan struct{})
	clock.AfterFunc(time.Millisecond, func() { close(fired) })
	<-fired
	if passed := clock.Now() - before; passed < time.Millisecond || passed > time.Minute {
		t.Errorf("%v passed within a millisecond's timer", passed)
	}
	if clock.AfterFunc(time.Hour, func() {}).Stop() != true {
		t.Error("a pending timer was not stopped")
	}
}

// Goal: Do acknowledges only through both gates, and its errors tell what
// failed.
func TestDo(t *testing.T) {
	broken := errors.New("broken")
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		ran := 0
		run := func(d time.Duration, err error) error {
			return lease.Do(t.Context(), func(context.Context) error {
				ran++
				time.Sleep(d)
				return err
			})
		}
		if err := run(time.Second, nil); err != nil {
			t.Errorf("open at both gates: %v", err)
		}
		if err := run(time.Second, broken); err != broken {
			t.Errorf("open, f fails: %v", err)
		}
		b.store.put(silence)
		if err := run(ttl, nil); reasonOf(err) != tenure.LeaseExpiredLocally {
			t.Errorf("closed after f: %v", err)
		}
		b.store.put(nil)
		time.Sleep(ttl)
		b.store.put(silence)
		if err := run(ttl, broken); !errors.Is(err, broken) || !errors.Is(err, tenure.ErrFenced) {
			t.Errorf("closed after f, which fails: %v", err)
		}
		if ran != 4 {
			t.Errorf("f ran %d times, want 4", ran)
		}
		if err := run(0, nil); !errors.Is(err, tenure.ErrFenced) || ran != 4 {
			t.Errorf("closed before f: %v, and it ran %d times", err, ran)
		}
	})
}

// Goal: an error of the gate that f returns itself is not wrapped once more.
func TestDoReturnsTheGatesErrorOfF(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		var inner error
		err := lease.Do(t.Context(), func(context.Context) error {
			b.clock.suspend(ttl)
			inner = lease.AssertHeld()
			return inner
		})
		if err != inner || inner == nil {
			t.Errorf("got %v, want %v", err, inner)
		}
	})
}

// Goal: the context that f gets ends with the caller's, with the gate, and
// with Do, and its cause says which.
func TestDoContext(t *testing.T) {
	type valueKey struct{}
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		caller, cancel := context.WithCancelCause(context.WithValue(t.Context(), valueKey{}, 7))
		lost := errors.New("the caller lost interest")

		var kept context.Context
		_ = lease.Do(caller, func(ctx context.Context) error {
			kept = ctx
			if ctx.Value(valueKey{}) != 7 || ctx.Err() != nil || ctx.Value(valueKey{}) != 7 {
				t.Error("f's context is not the caller's")
			}
			return nil
		})
		if kept.Err() != context.Canceled {
			t.Errorf("after Do: %v", kept.Err())
		}
		_ = lease.Do(caller, func(ctx context.Context) error {
			kept = ctx
			return nil
		})
		if kept.Err() != context.Canceled {
			t.Errorf("after Do, not looked at before: %v", kept.Err())
		}

		b.store.put(silence)
		err := lease.Do(caller, func(ctx context.Context) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if reasonOf(err) != tenure.LeaseExpiredLocally || lease.Remaining() != 0 {
			t.Errorf("at the fence: %v", err)
		}

		b.store.put(nil)
		time.Sleep(ttl)
		err = lease.Do(caller, func(ctx context.Context) error {
			time.AfterFunc(time.Second, func() { cancel(lost) })
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if err != lost {
			t.Errorf("the caller's end: %v", err)
		}
	})
}

// Goal: f's context is cancelled at once if the gate closed before f looked.
func TestDoContextAfterClose(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		err := lease.Do(t.Context(), func(ctx context.Context) error {
			b.clock.suspend(ttl)
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, context.Canceled) || !errors.Is(err, tenure.ErrFenced) {
			t.Errorf("got %v", err)
		}
	})
}

// Goal: the lease's context lives while the gate is open; a resumption gives a
// new one.
func TestContext(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		first := lease.Context()
		if lease.Context() != first {
			t.Error("two contexts at once")
		}
		b.store.put(silence)
		time.Sleep(ttl - margin - 1)
		synctest.Wait()
		if first.Err() != nil {
			t.Error("cancelled before the fence")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if reasonOf(context.Cause(first)) != tenure.LeaseExpiredLocally {
			t.Errorf("at the fence: %v", context.Cause(first))
		}
		if lease.Context().Err() == nil {
			t.Error("a context of a closed gate is not cancelled")
		}
		b.store.put(nil)
		time.Sleep(ttl)
		second := lease.Context()
		if second == first || second.Err() != nil {
			t.Errorf("after the resumption: %v", second.Err())
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if reasonOf(context.Cause(second)) != tenure.LeaseReleased || lease.Context().Err() == nil {
			t.Errorf("after the release: %v", context.Cause(second))
		}
	})
}

func BenchmarkAssertHeld(b *testing.B) {
	for name, clock := range clocks() {
		b.Run("clock="+name+"/reading", func(b *testing.B) {
			for b.Loop() {
				clock.Now()
			}
		})
		b.Run("clock="+name, func(b *testing.B) {
			lease := benchLease(b, clock)
			b.ReportAllocs()
			for b.Loop() {
				if err := lease.AssertHeld(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("clock="+name+"/parallel", func(b *testing.B) {
			lease := benchLease(b, clock)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := lease.AssertHeld(); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

func BenchmarkDo(b *testing.B) {
	for name, clock := range clocks() {
		b.Run("clock="+name, func(b *testing.B) {
			lease := benchLease(b, clock)
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				if err := lease.Do(ctx, func(context.Context) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchLease(b *testing.B, clock tenure.Clock) *holder.Lease {
	h, err := holder.New(holder.Config{Store: holdertest.NewStore(clock), Replica: "r", Clock: clock})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = h.Close(context.Background()) })
	lease, err := h.Acquire(b.Context(), key)
	if err != nil {
		b.Fatal(err)
	}
	return lease
}
