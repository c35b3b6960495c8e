package holder_test

import (
	"context"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
)

// resumed returns a lease that is resumed just now, after an outage.
func (b *bubble) resumed() *holder.Lease {
	b.Helper()
	lease := b.acquire(key)
	b.store.SetReachable(false)
	time.Sleep(2 * ttl)
	b.store.SetReachable(true)
	for lease.Remaining() == 0 {
		time.Sleep(time.Millisecond)
	}
	return lease
}

// Goal: a lease that was resumed and not used for a TTL is released: whoever
// served the key may be gone.
func TestResumedAndNotUsed(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.resumed()
		time.Sleep(ttl - time.Second)
		if lease.Err() != nil {
			t.Errorf("released early: %v", lease.Err())
		}
		time.Sleep(time.Second + time.Millisecond)
		if reasonOf(lease.Err()) != tenure.LeaseReleased {
			t.Errorf("got %v", lease.Err())
		}
		if b.store.Get(key).Record.Held {
			t.Error("the store was not told")
		}
	})
}

// Goal: any pass of the gate is a use, and one is enough.
func TestResumedAndUsed(t *testing.T) {
	for name, use := range map[string]func(l *holder.Lease){
		"gate":    func(l *holder.Lease) { _ = l.AssertHeld() },
		"do":      func(l *holder.Lease) { _ = l.Do(context.Background(), func(context.Context) error { return nil }) },
		"context": func(l *holder.Lease) { _ = l.Context() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				lease := b.resumed()
				time.Sleep(ttl / 2)
				use(lease)
				time.Sleep(10 * ttl)
				if err := lease.AssertHeld(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Goal: what doesn't pass the gate is no use: neither a check while the gate
// is closed, nor a context that was taken before.
func TestResumedAndNotReallyUsed(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		old := lease.Context()
		b.store.SetReachable(false)
		time.Sleep(2 * ttl)
		_ = lease.AssertHeld()
		_ = lease.Context()
		b.store.SetReachable(true)
		time.Sleep(2 * ttl)
		if reasonOf(lease.Err()) != tenure.LeaseReleased || old.Err() == nil {
			t.Errorf("got %v", lease.Err())
		}
	})
}

// Goal: the time counts from the first resumption since the gate was used: a
// store that comes and goes doesn't keep an unused lease alive.
func TestResumedAgainAndAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.resumed()
		first := time.Now()
		b.store.SetReachable(false)
		time.Sleep(ttl - margin)
		b.store.SetReachable(true)
		<-lease.Done()
		if after := time.Since(first); after > ttl+time.Second {
			t.Errorf("released %v after the first resumption", after)
		}
	})
}

// Goal: a lease that was never resumed may idle for ever.
func TestIdleLeaseIsKept(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		time.Sleep(100 * ttl)
		if err := lease.AssertHeld(); err != nil {
			t.Error(err)
		}
	})
}

// Goal: a store whose answers to renewals come past their fence extends the
// tenure for ever, and nobody can serve the key. After two such answers it is
// released.
func TestRenewalsAnsweredTooLate(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.put(func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result {
			results := send()
			if r.op == renew {
				select {
				case <-time.After(ttl):
				case <-ctx.Done():
					return unanswered(len(results), &tenure.UnavailableError{MaybeApplied: true, Reason: "no answer"})
				}
			}
			return results
		})
		start := time.Now()
		<-lease.Done()
		if reasonOf(lease.Err()) != tenure.LeaseReleased || time.Since(start) > 6*ttl {
			t.Errorf("after %v: %v", time.Since(start), lease.Err())
		}
		time.Sleep(time.Second)
		if b.store.Get(key).Record.Held {
			t.Error("the store was not told")
		}
	})
}

// Goal: one late answer among good ones is forgiven.
func TestOneRenewalAnsweredTooLate(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		for range 5 {
			b.store.put(later(ttl))
			time.Sleep(ttl / 2) // one renewal is caught
			b.store.put(nil)
			for range 4 {
				time.Sleep(ttl / 2)
				_ = lease.AssertHeld()
			}
		}
		if lease.Err() != nil {
			t.Errorf("got %v", lease.Err())
		}
	})
}

// Goal: a lease that was to be forgotten and is neither forgotten nor released
// within a TTL after the last try is released, whether that try succeeded or
// not.
func TestForgottenAndNotReleased(t *testing.T) {
	for name, between := range map[string]func(context.Context, request, func() []tenure.Result) []tenure.Result{
		"forgotten": nil,
		"failed":    failing(forget, &tenure.UnavailableError{Reason: "no leader"}),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				lease := b.acquire(key)
				b.store.put(between)
				for range 3 {
					_, _ = lease.Forget(b.within(time.Second))
					time.Sleep(ttl - 2*time.Second)
				}
				if lease.Err() != nil {
					t.Fatalf("released although it was retried: %v", lease.Err())
				}
				time.Sleep(2*time.Second + time.Millisecond)
				if reasonOf(lease.Err()) != tenure.LeaseReleased || b.store.Get(key).Record.Held {
					t.Errorf("got %v", lease.Err())
				}
			})
		})
	}
}

// Goal: a lease is not released while a renewal of it is on its way: the two
// could overtake each other. The proxy looks at the order.
func TestLetGoAfterTheRenewal(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.resumed()
		b.store.put(func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result {
			if r.op == renew {
				time.Sleep(3 * ttl) // whatever the context says
			}
			return send()
		})
		<-lease.Done()
		time.Sleep(time.Second)
		if reasonOf(lease.Err()) != tenure.LeaseReleased || b.store.Get(key).Record.Held {
			t.Errorf("got %v", lease.Err())
		}
	})
}

// Goal: what is let go while the store is away is handed back when it is there
// again, and nothing renews it meanwhile.
func TestLetGoDuringAnOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.resumed()
		time.Sleep(ttl - time.Second)
		b.store.SetReachable(false)
		<-lease.Done()
		letGo := time.Now()
		time.Sleep(10 * time.Minute)
		b.store.SetReachable(true)
		time.Sleep(5 * time.Second)
		if b.store.Get(key).Record.Held {
			t.Error("the store was not told")
		}
		renewals := b.store.sentFor(renew, key, lease.Epoch())
		if last := renewals[len(renewals)-1].at; last.After(letGo) {
			t.Errorf("a renewal %v after it was let go", last.Sub(letGo))
		}
	})
}
