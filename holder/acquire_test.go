package holder_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
)

// slow answers every acquire d after it was applied, or gives up when the
// context ends.
func slow(d time.Duration) func(context.Context, request, func() []tenure.Result) []tenure.Result {
	return func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result {
		if r.op != acquire {
			return send()
		}
		results := send()
		select {
		case <-time.After(d):
			return results
		case <-ctx.Done():
			return unanswered(len(results), &tenure.UnavailableError{MaybeApplied: true, Reason: "no answer", Err: ctx.Err()})
		}
	}
}

// Goal: the fence of an acquire counts from before the attempt that won.
func TestFenceOfALateGrant(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		late := slow(6 * time.Second)
		b.store.put(func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result {
			if r.op == renew { // one is due at once, and would move the fence before the test sees it
				<-ctx.Done()
				return unanswered(len(r.keys), &tenure.UnavailableError{Reason: "no answer", Err: ctx.Err()})
			}
			return late(ctx, r, send)
		})
		lease := b.acquire(key)
		if left, want := lease.Remaining(), ttl-margin-6*time.Second; left != want {
			t.Errorf("%v remain, want %v", left, want)
		}
	})
}

// Goal: a grant that comes when nothing of it is left is never a handle. It is
// reported as lost and handed back, also when the store can't wait for it.
func TestGrantEatenByTheRoundTrip(t *testing.T) {
	for name, between := range map[string]func(context.Context, request, func() []tenure.Result) []tenure.Result{
		"store gives up":       slow(ttl * 12 / 10),
		"store never gives up": later(ttl * 12 / 10),
		"just now":             later(ttl - margin),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				b.store.put(between)
				lease, err := b.Acquire(t.Context(), key)
				if lease != nil || !errors.Is(err, tenure.ErrLost) {
					t.Errorf("got %v, %v", lease, err)
				}
				b.store.put(nil)
				synctest.Wait()
				time.Sleep(2 * ttl) // the hand-back of the third case takes as long
				if b.store.Get(key).Record.Held {
					t.Error("the tenure was not handed back")
				}
			})
		})
	}
}

// Goal: a key that somebody else has is refused, with the record, and not
// tried again.
func TestAcquireHeld(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		other := b.another("replica-2")
		theirs, err := other.Acquire(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second / 2) // before the first renewal
		lease, err := b.Acquire(t.Context(), key)
		var held *tenure.HeldError
		if lease != nil || !errors.As(err, &held) {
			t.Fatalf("got %v, %v", lease, err)
		}
		if held.Record.Owner != theirs.Owner() || held.Record.Epoch != 1 || held.Remaining != ttl-time.Second/2 {
			t.Errorf("got %+v", held)
		}
		if n := len(b.store.sent(acquire)); n != 2 {
			t.Errorf("%d acquires", n)
		}
	})
}

// Goal: two handles of one holder never share a key. The second acquire is
// refused without asking the store, whether the first is done or on its way.
func TestTwoAcquiresOfOneKey(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.store.put(slow(time.Second))
		got := make(chan *holder.Lease)
		go func() { got <- b.acquire(key) }()
		synctest.Wait()
		if _, err := b.Acquire(t.Context(), key); !errors.Is(err, tenure.ErrHeld) {
			t.Errorf("while it is acquired: %v", err)
		}
		lease := <-got
		for _, try := range []func(context.Context, string) (*holder.Lease, error){b.Acquire, b.AcquireWait} {
			_, err := try(t.Context(), key)
			var held *tenure.HeldError
			if !errors.As(err, &held) || held.Record.Epoch != lease.Epoch() || held.Record.Owner != b.Owner() {
				t.Errorf("while it is held: %v", err)
			}
		}
		if n := len(b.store.sent(acquire)); n != 1 {
			t.Errorf("%d acquires were sent", n)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if again := b.acquire(key); again.Epoch() != 2 {
			t.Errorf("epoch %d", again.Epoch())
		}
	})
}

// Goal: a lost answer is asked for again under the same request id, which
// returns the tenure that the first try made. The fence is the second's.
func TestLostAnswerOfAnAcquire(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		tries := 0
		b.store.put(func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result {
			if tries++; tries > 3 {
				return send()
			}
			send() // applied, and the answer is lost
			return silence(ctx, r, send)
		})
		lease := b.acquire(key)
		if lease.Epoch() != 1 || lease.Remaining() != ttl-margin {
			t.Errorf("epoch %d, %v remain", lease.Epoch(), lease.Remaining())
		}
	})
}

// Goal: an acquire ends with its context, whatever the store does, with an
// error that says so, and never with neither lease nor error.
func TestAcquireEndsWithItsContext(t *testing.T) {
	const patience = 500 * time.Millisecond
	cases := map[string]func(b *bubble){
		"held":        func(b *bubble) { _, _ = b.another("replica-2").Acquire(b.Context(), key) },
		"unreachable": func(b *bubble) { b.store.SetReachable(false) },
		"silent":      func(b *bubble) { b.store.put(silence) },
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				prepare(b)
				start := time.Now()
				lease, err := b.AcquireWait(b.within(patience), key)
				if lease != nil || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, %v", lease, err)
				}
				if name != "held" && !errors.Is(err, tenure.ErrUnavailable) {
					t.Errorf("got %v", err)
				}
				if name == "held" && !errors.Is(err, tenure.ErrHeld) {
					t.Errorf("got %v", err)
				}
				if took := time.Since(start); took > patience {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// Goal: a context that has ended already sends nothing.
func TestAcquireWithAnEndedContext(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		cause := errors.New("shutting down")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		_, err := b.Acquire(ctx, key)
		var u *tenure.UnavailableError
		if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) || !errors.As(err, &u) || u.MaybeApplied {
			t.Errorf("got %v", err)
		}
		if len(b.store.requests) != 0 {
			t.Error("something was sent")
		}
	})
}

// Goal: the answer and the end of the context race to the nanosecond: there is
// exactly one of lease and error, and with an error the tenure goes away.
func TestAcquireCancelledAsItIsGranted(t *testing.T) {
	const patience = 500 * time.Millisecond
	for d := patience - 2; d <= patience+2; d++ {
		t.Run(d.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				b.store.put(slow(d))
				lease, err := b.Acquire(b.within(patience), key)
				if (lease == nil) == (err == nil) {
					t.Fatalf("got %v, %v", lease, err)
				}
				b.store.put(nil)
				time.Sleep(time.Second)
				if held := b.store.Get(key).Record.Held; held != (lease != nil) {
					t.Errorf("got %v, and held is %t", err, held)
				}
			})
		})
	}
}

// Goal: what an acquire of unknown outcome left behind is released by its
// request id, however long the store is away, until an entry answers. Until
// then the same holder's next acquire of the key waits.
func TestUnknownOutcomeIsHandedBack(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.store.put(func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result {
			send()
			return silence(ctx, r, send)
		})
		_, err := b.Acquire(b.within(time.Second), key)
		var u *tenure.UnavailableError
		if !errors.As(err, &u) || !u.MaybeApplied {
			t.Errorf("got %v", err)
		}
		if !b.store.Get(key).Record.Held {
			t.Fatal("nothing was granted")
		}
		b.store.put(failing(release, &tenure.UnavailableError{MaybeApplied: true, Reason: "no leader"}))
		time.Sleep(10 * time.Minute)
		sent := len(b.store.sent(release))
		if sent < 20 || sent > 1000 {
			t.Errorf("%d releases in ten minutes", sent)
		}
		_, err = b.Acquire(b.within(time.Second), key)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("before it was handed back: %v", err)
		}
		time.AfterFunc(time.Second, func() { b.store.put(nil) })
		if lease := b.acquire(key); lease.Epoch() != 2 {
			t.Errorf("epoch %d", lease.Epoch())
		}
	})
}

// Goal: an error that the store should not have returned leaves the outcome
// unknown.
func TestForeignErrorIsHandedBack(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.store.put(func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result {
			if results := send(); r.op != acquire {
				return results
			}
			return unanswered(len(r.keys), io.ErrUnexpectedEOF)
		})
		_, err := b.Acquire(b.within(time.Second), key)
		var u *tenure.UnavailableError
		if !errors.As(err, &u) || !u.MaybeApplied {
			t.Errorf("got %v", err)
		}
		time.Sleep(time.Second)
		if b.store.Get(key).Record.Held {
			t.Error("the tenure stayed behind")
		}
	})
}

// Goal: an outcome that is known needs no release.
func TestKnownOutcomeIsNotHandedBack(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.store.SetReachable(false)
		_, err := b.Acquire(b.within(time.Second), key)
		var u *tenure.UnavailableError
		if !errors.As(err, &u) || u.MaybeApplied {
			t.Errorf("got %v", err)
		}
		time.Sleep(ttl)
		if n := len(b.store.sent(release)); n != 0 {
			t.Errorf("%d releases", n)
		}
	})
}

// Goal: the retries of an acquire back off: an outage of a minute is not a
// storm.
func TestAcquireBacksOff(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.store.SetReachable(false)
		_, _ = b.Acquire(b.within(time.Minute), key)
		if n := len(b.store.sent(acquire)); n < 20 || n > 120 {
			t.Errorf("%d attempts in a minute", n)
		}
	})
}

// Goal: many keys are acquired in few requests, each with its own result.
func TestAcquireMany(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		other := b.another("replica-2")
		if _, err := other.Acquire(t.Context(), "t-7"); err != nil {
			t.Fatal(err)
		}
		keys := make([]string, 10_000)
		for i := range keys {
			keys[i] = fmt.Sprintf("t-%d", i)
		}
		keys[3], keys[4] = "", "t-5"
		results := b.AcquireMany(t.Context(), keys)
		if n := len(b.store.sent(acquire)); n > 5 {
			t.Errorf("%d requests", n)
		}
		for i, r := range results {
			if r.Key != keys[i] || (r.Lease == nil) == (r.Err == nil) {
				t.Fatalf("result %d is %+v", i, r)
			}
			want := map[int]error{3: tenure.ErrInvalid, 5: tenure.ErrHeld, 7: tenure.ErrHeld}[i]
			if !errors.Is(r.Err, want) {
				t.Errorf("result %d is %+v, want %v", i, r, want)
			}
			if r.Lease != nil && (r.Lease.Key() != keys[i] || r.Lease.AssertHeld() != nil) {
				t.Errorf("result %d is a lease of %s", i, r.Lease.Key())
			}
		}
		if n := len(b.Leases()); n != len(keys)-3 {
			t.Errorf("%d leases", n)
		}
		if got := b.AcquireMany(t.Context(), nil); len(got) != 0 {
			t.Errorf("no keys: %v", got)
		}
	})
}

// Goal: keys that were granted early are kept while others are still tried.
func TestAcquireManyKeepsTheEarlyOnes(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.store.put(func(_ context.Context, r request, send func() []tenure.Result) []tenure.Result {
			results := send()
			for i := range results {
				if r.op == acquire && r.keys[i] == "late" {
					results[i] = unanswered(1, &tenure.UnavailableError{Reason: "busy"})[0]
				}
			}
			return results
		})
		results := b.AcquireMany(b.within(3*ttl), []string{"early", "late"})
		if results[0].Lease == nil || results[0].Lease.AssertHeld() != nil || !errors.Is(results[1].Err, tenure.ErrUnavailable) {
			t.Errorf("got %+v", results)
		}
	})
}

// Goal: malformed keys never reach the store.
func TestInvalidKeys(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		for _, key := range []string{"", "a\x00", "\xff", string(make([]byte, 513))} {
			if lease, err := b.Acquire(t.Context(), key); lease != nil || !errors.Is(err, tenure.ErrInvalid) {
				t.Errorf("%q: %v, %v", key, lease, err)
			}
		}
		if len(b.store.requests) != 0 {
			t.Error("something was sent")
		}
	})
}
