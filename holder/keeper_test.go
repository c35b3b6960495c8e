package holder_test

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
)

// Goal: ten thousand leases are renewed in few requests, spread over the
// period, by a handful of goroutines, and none is lost.
func TestRenewalsAreBatchedAndSpread(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		const n = 10_000
		before := runtime.NumGoroutine()
		leases := b.acquireMany(n)
		time.Sleep(ttl) // over the first period, which spreads them
		start, skip := time.Now(), len(b.store.sent(renew))
		const periods = 10
		time.Sleep(periods * ttl / 3)
		synctest.Wait()
		requests := b.store.sent(renew)[skip:]
		if got := len(requests); got > periods*50 || got < periods {
			t.Errorf("%d requests in %d periods", got, periods)
		}
		renewals, largest := 0, 0
		for _, r := range requests {
			renewals += len(r.keys)
			largest = max(largest, len(r.keys))
		}
		if renewals < n*periods || renewals > n*periods*3/2 {
			t.Errorf("%d renewals in %v of %d leases", renewals, time.Since(start), n)
		}
		if largest > n/4 {
			t.Errorf("%d of %d leases beat in one instant", largest, n)
		}
		if more := runtime.NumGoroutine() - before; more > 20 {
			t.Errorf("%d goroutines more", more)
		}
		for _, l := range leases {
			if err := l.AssertHeld(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Goal: minutes of leases that nobody looks at, with every path that could
// start a renewal taken a hundred times, makes no more requests than the
// cadence says.
func TestNoKeepAliveStorm(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		leases := b.acquireMany(200)
		for range 100 {
			for _, l := range leases {
				_, _ = l.Context(), l.Done()
				_, _ = b.Acquire(t.Context(), l.Key())
			}
		}
		acquires := len(b.store.sent(acquire))
		time.Sleep(3 * time.Minute)
		periods := int(3 * time.Minute / (ttl / 3))
		if got := len(b.store.sent(renew)); got > periods*25 {
			t.Errorf("%d requests in %d periods", got, periods)
		}
		if acquires != 1 {
			t.Errorf("%d acquires", acquires)
		}
	})
}

// Goal: the leases that failed together are retried together:
// an outage makes no more requests than usual.
func TestRetriesStayBatched(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.acquireMany(2000)
		time.Sleep(ttl)
		b.store.SetReachable(false)
		before := len(b.store.sent(renew))
		time.Sleep(2 * time.Minute)
		if got := len(b.store.sent(renew)) - before; got > 2*60*6 {
			t.Errorf("%d requests in two minutes of outage", got)
		}
		b.store.SetReachable(true)
		time.Sleep(ttl / 4)
		for _, l := range b.Leases() {
			if err := l.AssertHeld(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Goal: while every call hangs, their number is bounded, and whatever is due
// is still tried within the fence.
func TestHangingCallsAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		const n = 70_000
		b.acquireMany(n)
		b.store.put(silence)
		time.Sleep(ttl - margin)
		if most := b.store.mostCalls(); most > 20 {
			t.Errorf("%d calls at once", most)
		}
		tried := make(map[string]bool)
		for _, r := range b.store.sent(renew) {
			for _, k := range r.keys {
				tried[k] = true
			}
		}
		if len(tried) != n {
			t.Errorf("%d of %d leases were tried", len(tried), n)
		}
	})
}

// Goal: a lost lease in a batch doesn't spoil its neighbours.
func TestLossInABatch(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		leases := b.acquireMany(1000)
		lost := leases[500]
		b.store.Store.Release(t.Context(), tenure.ReleaseRequest{
			Owner:   b.Owner(),
			Endings: []tenure.Ending{{Key: lost.Key(), Epoch: lost.Epoch()}},
		})
		time.Sleep(3 * ttl)
		for i, l := range leases {
			if err := l.AssertHeld(); (err == nil) != (i != 500) {
				t.Errorf("%s: %v", l.Key(), err)
			}
		}
		if got, want := len(b.Leases()), len(leases)-1; got != want {
			t.Errorf("%d leases, want %d", got, want)
		}
	})
}

// Goal: with any TTL and margin, however extreme, leases are kept without a
// storm of requests.
func TestCadences(t *testing.T) {
	for _, c := range []struct{ ttl, margin time.Duration }{
		{tenure.MinTTL, 10 * time.Millisecond},
		{tenure.MinTTL, 0},
		{time.Second, 900 * time.Millisecond},
		{time.Minute, 0},
		{time.Hour, 59 * time.Minute},
	} {
		t.Run(fmt.Sprint(c.ttl, c.margin), func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				cfg := holder.Config{Replica: "replica-2", TTL: c.ttl, Margin: c.margin}
				if c.margin == 0 {
					cfg.Margin = holder.NoMargin
				}
				h := b.make(cfg)
				lease, err := h.Acquire(t.Context(), key)
				if err != nil {
					t.Fatal(err)
				}
				const ttls = 50
				for range ttls * 10 {
					time.Sleep(c.ttl / 10)
					if err := lease.AssertHeld(); err != nil {
						t.Fatal(err)
					}
				}
				period := min(c.ttl/3, (c.ttl-c.margin)*3/8)
				if got, most := len(b.store.sent(renew)), int(ttls*c.ttl/period*14/10); got > most {
					t.Errorf("%d renewals, want at most %d", got, most)
				}
			})
		})
	}
}
