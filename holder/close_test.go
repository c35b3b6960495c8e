package holder_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
)

// acquireMany acquires n free keys.
func (b *bubble) acquireMany(n int) []*holder.Lease {
	b.Helper()
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("t-%d", i)
	}
	leases := make([]*holder.Lease, n)
	for i, r := range b.AcquireMany(b.Context(), keys) {
		if r.Err != nil {
			b.Fatal(r.Err)
		}
		leases[i] = r.Lease
	}
	return leases
}

func (b *bubble) heldInStore() (held int) {
	for _, view := range b.store.List() {
		if view.Record.Held {
			held++
		}
	}
	return held
}

// Goal: Close releases ten thousand leases in a few requests, shuts every gate
// before the first of them, and leaves nothing behind.
func TestCloseTenThousand(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		leases := b.acquireMany(10_000)
		ctx := leases[17].Context()
		time.Sleep(ttl)
		b.store.put(func(_ context.Context, r request, send func() []tenure.Result) []tenure.Result {
			if r.op == release {
				for _, l := range leases {
					if reasonOf(l.AssertHeld()) != tenure.LeaseReleased {
						t.Errorf("%s: %v", l.Key(), l.AssertHeld())
						break
					}
				}
			}
			return send()
		})
		if err := b.Holder.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(b.store.sent(release)); n > 5 {
			t.Errorf("%d requests", n)
		}
		if held := b.heldInStore(); held != 0 || len(b.Leases()) != 0 {
			t.Errorf("%d held, %d handles", held, len(b.Leases()))
		}
		for _, l := range leases {
			if reasonOf(l.Err()) != tenure.LeaseReleased || !errors.Is(l.Err(), holder.ErrClosed) {
				t.Fatalf("%s: %v", l.Key(), l.Err())
			}
		}
		if ctx.Err() == nil {
			t.Error("a context lives")
		}
		renewals := len(b.store.sent(renew))
		time.Sleep(3 * ttl)
		if n := len(b.store.sent(renew)); n != renewals {
			t.Errorf("%d renewals after Close", n-renewals)
		}
	})
}

// Goal: everything on a closed holder fails at once and says why; what is a
// success on an ended lease still is.
func TestClosed(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		if err := b.Holder.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := len(b.store.requests)
		for _, try := range []func(context.Context, string) (*holder.Lease, error){b.Acquire, b.AcquireWait} {
			if l, err := try(t.Context(), key); l != nil || !errors.Is(err, holder.ErrClosed) || !errors.Is(err, tenure.ErrUnavailable) {
				t.Errorf("acquire: %v, %v", l, err)
			}
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Errorf("release: %v", err)
		}
		if _, err := lease.Forget(t.Context()); !errors.Is(err, holder.ErrClosed) {
			t.Errorf("forget: %v", err)
		}
		if err := b.Holder.Close(t.Context()); err != nil {
			t.Errorf("close again: %v", err)
		}
		if len(b.store.requests) != before {
			t.Error("something was sent")
		}
	})
}

// Goal: Close ends what waits: an acquire in line, one that is tried, a forget
// and a renewal; and it releases what they leave.
func TestCloseEndsWhatWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.hold("theirs", time.Hour)
		lease := b.acquire("forgotten")
		b.store.put(func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result {
			switch {
			case r.op == acquire && r.keys[0] == "unknown":
				send()
				return silence(ctx, r, send)
			case r.op == forget, r.op == renew:
				return silence(ctx, r, send)
			}
			return send()
		})
		var calls sync.WaitGroup
		calls.Go(func() {
			_, err := b.AcquireWait(context.Background(), "theirs")
			if !errors.Is(err, holder.ErrClosed) {
				t.Errorf("the wait: %v", err)
			}
		})
		calls.Go(func() {
			_, err := b.Acquire(context.Background(), "unknown")
			if !errors.Is(err, holder.ErrClosed) {
				t.Errorf("the acquire: %v", err)
			}
		})
		calls.Go(func() {
			_, err := lease.Forget(context.Background())
			if !errors.Is(err, holder.ErrClosed) {
				t.Errorf("the forget: %v", err)
			}
		})
		for len(b.store.sent(renew)) < 2 {
			time.Sleep(time.Millisecond)
		}
		start := time.Now()
		if err := b.Holder.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %v", took)
		}
		calls.Wait()
		if held := b.heldInStore(); held != 1 {
			t.Errorf("%d tenures are held, want theirs alone", held)
		}
	})
}

// Goal: Close waits for a release that somebody else has called.
func TestCloseWaitsForReleases(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.put(later(time.Second))
		go func() { _ = lease.Release(context.Background()) }()
		synctest.Wait()
		if err := b.Holder.Close(t.Context()); err != nil {
			t.Error(err)
		}
		select {
		case <-lease.Done():
		default:
			t.Error("the release is still on its way")
		}
		if n := len(b.store.sent(release)); n != 1 {
			t.Errorf("%d releases", n)
		}
	})
}

// Goal: Close honours its context while the store is away, and says what was
// not released. Without a deadline it ends when the TTL has passed.
func TestCloseUnreachable(t *testing.T) {
	for name, c := range map[string]struct {
		patience time.Duration
		away     func(b *bubble)
	}{
		"unreachable":  {time.Second, func(b *bubble) { b.store.SetReachable(false) }},
		"silent":       {time.Second, func(b *bubble) { b.store.put(silence) }},
		"for a TTL":    {time.Hour, func(b *bubble) { b.store.SetReachable(false) }},
		"for a moment": {0, func(b *bubble) { b.store.SetReachable(false) }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				leases := b.acquireMany(5000)
				c.away(b)
				h := b.Holder
				b.holders = b.holders[1:] // it is closed here
				start := time.Now()
				err := h.Close(b.within(c.patience))
				if !errors.Is(err, tenure.ErrUnavailable) {
					t.Errorf("got %v", err)
				}
				if took := time.Since(start); took > min(c.patience, ttl) {
					t.Errorf("it took %v", took)
				}
				for _, l := range leases {
					if l.AssertHeld() == nil || l.Err() == nil {
						t.Fatal("a lease lives")
					}
				}
				synctest.Wait()
				before := len(b.store.requests)
				b.store.put(nil)
				b.store.SetReachable(true)
				time.Sleep(3 * ttl)
				if n := len(b.store.requests) - before; n != 0 {
					t.Errorf("%d requests after Close", n)
				}
			})
		})
	}
}

// Goal: an outage of a moment, as at a change of leader, doesn't cost the
// handover, nor does a store that answers only a part.
func TestCloseSurvivesAShortOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.acquireMany(5000)
		var mu sync.Mutex
		refused := make(map[string]bool)
		b.store.put(func(_ context.Context, r request, send func() []tenure.Result) []tenure.Result {
			results := send()
			mu.Lock()
			defer mu.Unlock()
			for i, k := range r.keys {
				if !refused[k] && i%2 == 0 {
					refused[k] = true
					results[i] = tenure.Result{Err: &tenure.UnavailableError{Reason: "leadership lost", MaybeApplied: true}}
				}
			}
			return results
		})
		if err := b.Holder.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if held := b.heldInStore(); held != 0 {
			t.Errorf("%d held", held)
		}
	})
}

// Goal: several closings are one, also when the first is slow.
func TestCloseConcurrently(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.acquireMany(10)
		b.store.put(later(time.Second))
		var calls sync.WaitGroup
		for range 5 {
			calls.Go(func() {
				if err := b.Holder.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if err := b.Holder.Close(b.within(time.Millisecond)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the impatient one: %v", err)
		}
		calls.Wait()
		if n := len(b.store.sent(release)); n != 1 {
			t.Errorf("%d releases", n)
		}
	})
}

// Goal: whatever the holder is doing, Close ends it and leaves no tenure.
func TestCloseAtAnyMoment(t *testing.T) {
	for d := time.Duration(0); d < 2*time.Second; d += 130 * time.Millisecond {
		inBubble(t, func(t *testing.T, b *bubble) {
			b.store.put(func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result {
				time.Sleep(time.Duration(len(b.store.sent(r.op))%7) * 30 * time.Millisecond)
				return send()
			})
			var calls sync.WaitGroup
			for i := range 50 {
				calls.Go(func() {
					for n := 0; ; n++ {
						lease, err := b.Acquire(context.Background(), fmt.Sprintf("t-%d-%d", i, n))
						if err != nil {
							return
						}
						if n%3 == 0 {
							_ = lease.Release(context.Background())
						}
					}
				})
			}
			time.Sleep(d)
			if err := b.Holder.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if held := b.heldInStore(); held != 0 {
				t.Errorf("closed after %v: %d held", d, held)
			}
			calls.Wait()
		})
	}
}
