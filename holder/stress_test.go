package holder_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
)

// jitter delays every request and every answer a little, and loses some
// answers.
func jitter(rng func(n int64) int64) func(context.Context, request, func() []tenure.Result) []tenure.Result {
	return func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result {
		time.Sleep(time.Duration(rng(int64(time.Millisecond))))
		results := send()
		time.Sleep(time.Duration(rng(int64(time.Millisecond))))
		if rng(20) == 0 {
			return unanswered(len(r.keys), &tenure.UnavailableError{MaybeApplied: true, Reason: "the answer was lost"})
		}
		return results
	}
}

// Goal: ten thousand rounds of acquire and release, with contexts cancelled at
// random points and answers lost, leave no tenure behind a TTL later. The proxy
// sees to it that no tenure is renewed after its release.
func TestRoundsLeaveNothingBehind(t *testing.T) {
	const rounds, workers = 10_000, 10
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	inBubble(t, func(t *testing.T, b *bubble) {
		h := b.make(holder.Config{Replica: "replica-2", TTL: tenure.MinTTL})
		rng := lockedRand(seed)
		b.store.put(jitter(rng))
		var calls sync.WaitGroup
		for w := range workers {
			calls.Go(func() {
				for range rounds / workers {
					oneRound(t, h, string(rune('a'+w)), rng)
				}
			})
		}
		calls.Wait()
		time.Sleep(tenure.MinTTL)
		b.store.put(nil)
		time.Sleep(tenure.MinTTL)
		if held := b.heldInStore(); held != 0 || len(h.Leases()) != 0 {
			t.Errorf("%d tenures and %d handles stayed behind", held, len(h.Leases()))
		}
		if renewals, releases := len(b.store.sent(renew)), len(b.store.sent(release)); renewals == 0 || releases == 0 {
			t.Errorf("too little happened: %d renewals, %d releases", renewals, releases)
		}
	})
}

// oneRound acquires, holds for up to two milliseconds, sometimes for longer
// than a TTL, and releases, with contexts that may end at any moment.
func oneRound(t *testing.T, h *holder.Holder, key string, rng func(int64) int64) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng(int64(10*time.Millisecond))))
	lease, err := h.Acquire(ctx, key)
	cancel()
	if (lease == nil) == (err == nil) {
		t.Errorf("got %v, %v", lease, err)
	}
	if err != nil {
		return
	}
	hold := time.Duration(rng(int64(2 * time.Millisecond)))
	if rng(50) == 0 {
		hold = 2 * tenure.MinTTL
	}
	time.Sleep(hold)
	ctx, cancel = context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := lease.Release(ctx); err != nil && !errors.Is(err, tenure.ErrUnavailable) {
		t.Errorf("release: %v", err)
	}
	if lease.AssertHeld() == nil {
		t.Error("the gate is open after the release")
	}
}

func lockedRand(seed uint64) func(n int64) int64 {
	rng := rand.New(rand.NewPCG(seed, 0))
	var mu sync.Mutex
	return func(n int64) int64 {
		mu.Lock()
		defer mu.Unlock()
		return rng.Int64N(n)
	}
}

// Goal: every public method can be called from everywhere at once, while
// leases are lost, resumed, forgotten and released and the holder is closed.
// The race detector is the judge.
func TestEverythingAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		rng := lockedRand(1)
		h := b.make(holder.Config{Replica: "replica-2", TTL: tenure.MinTTL})
		ctx, cancel := context.WithCancel(context.Background())
		var calls sync.WaitGroup
		for w := range 32 {
			calls.Go(func() {
				for ctx.Err() == nil {
					useLease(ctx, h, string(rune('a'+w%8)), rng)
					time.Sleep(time.Millisecond)
				}
			})
		}
		for range 10 {
			time.Sleep(time.Duration(rng(int64(2 * tenure.MinTTL))))
			b.store.SetReachable(false)
			time.Sleep(time.Duration(rng(int64(2 * tenure.MinTTL))))
			b.store.SetReachable(true)
		}
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
		cancel()
		calls.Wait()
		// A release whose context ended during an outage waits for the TTL.
		time.Sleep(tenure.MinTTL)
		for _, view := range b.store.List() {
			if view.Record.Held && !view.Expired {
				t.Errorf("a tenure lives: %+v", view)
			}
		}
	})
}

// useLease calls one method or another.
func useLease(ctx context.Context, h *holder.Holder, key string, rng func(int64) int64) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(1+rng(int64(tenure.MinTTL))))
	defer cancel()
	l, ok := h.Lookup(key)
	if !ok {
		_, _ = h.Acquire(ctx, key)
		return
	}
	switch rng(12) {
	case 0:
		_ = l.Release(ctx)
	case 1:
		_, _ = l.Forget(ctx)
	case 2:
		_ = l.ReleaseForgotten(ctx)
	case 3, 4:
		_ = l.Do(ctx, func(ctx context.Context) error { return ctx.Err() })
	case 5:
		<-mergeDone(ctx, l.Context())
	case 6:
		_, _, _, _ = l.Err(), l.TTL(), l.Remaining(), l.Live(l.ForgottenAtEpoch())
	case 7:
		_, _ = h.AcquireWait(ctx, key)
	case 8:
		_ = h.AcquireMany(ctx, []string{key, "many-" + key})
	case 9:
		_ = h.Leases()
	default:
		_ = l.AssertHeld()
	}
}

// mergeDone is closed when either context ends.
func mergeDone(a, b context.Context) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-a.Done():
		case <-b.Done():
		}
	}()
	return done
}
