package holder_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
)

// hold has another replica hold the key for d from now.
func (b *bubble) hold(key string, d time.Duration) {
	b.Helper()
	lease, err := b.another("replica-2").Acquire(b.Context(), key)
	if err != nil {
		b.Fatal(err)
	}
	time.AfterFunc(d, func() {
		if err := lease.Release(context.Background()); err != nil {
			b.Error(err)
		}
	})
}

// Goal: a grant that was waited for for long is confirmed by a renewal, and
// the fence counts from before that: it lies in the future on return.
func TestWaitIsConfirmed(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.hold(key, 10*ttl)
		before := len(b.store.sent(renew))
		lease, err := b.AcquireWait(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if lease.Remaining() != ttl-margin || lease.Epoch() != 2 {
			t.Errorf("epoch %d, %v remain", lease.Epoch(), lease.Remaining())
		}
		if n := len(b.store.sentFor(renew, key, 2)); n != 1 || before > len(b.store.sent(renew)) {
			t.Errorf("%d renewals", n)
		}
	})
}

// Goal: with at least half of the usable time left, no confirmation is needed,
// and the fence counts from before the wait.
func TestShortWaitIsNotConfirmed(t *testing.T) {
	for _, c := range []struct {
		waited    time.Duration
		confirmed int
	}{{0, 0}, {(ttl - margin) / 2, 0}, {(ttl-margin)/2 + 1, 1}} {
		t.Run(c.waited.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				b.hold(key, c.waited)
				lease, err := b.AcquireWait(t.Context(), key)
				if err != nil {
					t.Fatal(err)
				}
				want := ttl - margin
				if c.confirmed == 0 {
					want -= c.waited
				}
				if lease.Remaining() != want {
					t.Errorf("%v remain, want %v", lease.Remaining(), want)
				}
				if n := len(b.store.sentFor(renew, key, 2)); n != c.confirmed {
					t.Errorf("%d confirmations", n)
				}
			})
		})
	}
}

// Goal: if the tenure is lost before it is confirmed, the holder queues again,
// under another request id.
func TestConfirmationLost(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.hold(key, ttl)
		spoiled := false
		b.store.put(func(_ context.Context, r request, send func() []tenure.Result) []tenure.Result {
			if r.op == renew && r.epochs[0] == 2 && !spoiled {
				spoiled = true
				b.store.Store.Release(context.Background(), tenure.ReleaseRequest{
					Owner:   b.Owner(),
					Endings: []tenure.Ending{{Key: key, Epoch: 2}},
				})
			}
			return send()
		})
		lease, err := b.AcquireWait(t.Context(), key)
		if err != nil || lease.Epoch() != 3 || lease.AssertHeld() != nil {
			t.Errorf("got %+v, %v", lease, err)
		}
		if n := len(b.store.sent(acquire)); n != 3 { // theirs, and two of ours
			t.Errorf("%d acquires", n)
		}
	})
}

// Goal: a confirmation that gets no answer is tried again, and when the
// context ends the tenure is handed back.
func TestConfirmationUnanswered(t *testing.T) {
	unavailable := failing(renew, &tenure.UnavailableError{Reason: "no leader"})
	inBubble(t, func(t *testing.T, b *bubble) {
		b.hold(key, ttl)
		time.AfterFunc(ttl-1, func() { b.store.put(unavailable) })
		time.AfterFunc(ttl+time.Second, func() { b.store.put(nil) })
		lease, err := b.AcquireWait(t.Context(), key)
		if err != nil || lease.Epoch() != 2 || lease.Remaining() != ttl-margin {
			t.Errorf("got %+v, %v", lease, err)
		}
	})
	inBubble(t, func(t *testing.T, b *bubble) {
		b.hold(key, ttl)
		time.AfterFunc(ttl-1, func() { b.store.put(unavailable) })
		_, err := b.AcquireWait(b.within(ttl+time.Second), key)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, tenure.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		time.Sleep(time.Second)
		if b.store.Get(key).Record.Held {
			t.Error("the tenure stayed behind")
		}
	})
}

// Goal: confirmations that take longer than a grant lasts are given up.
func TestConfirmationEaten(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.hold(key, ttl)
		time.AfterFunc(ttl-1, func() { b.store.put(later(ttl)) })
		start := time.Now()
		lease, err := b.AcquireWait(t.Context(), key)
		if lease != nil || !errors.Is(err, tenure.ErrLost) {
			t.Errorf("got %v, %v", lease, err)
		}
		if took := time.Since(start); took > 5*ttl {
			t.Errorf("it took %v", took)
		}
		b.store.put(nil)
		time.Sleep(ttl)
		if b.store.Get(key).Record.Held {
			t.Error("the tenure stayed behind")
		}
	})
}

// Goal: a wait that was cancelled leaves the line, and says so.
func TestWaitCancelled(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.hold(key, ttl)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		_, err := b.AcquireWait(ctx, key)
		if !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		time.Sleep(ttl)
		if b.store.Get(key).Record.Held {
			t.Error("who left the line was granted the key")
		}
	})
}

var heldBySomebody = &tenure.HeldError{Record: tenure.Record{Key: key, Owner: "somebody", Epoch: 9, Held: true}}

// Goal: a wait that was cancelled after an answer tells both.
func TestWaitCancelledAfterAnAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		b.store.put(failing(acquire, heldBySomebody))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := b.AcquireWait(ctx, key); !errors.Is(err, context.Canceled) || !errors.Is(err, tenure.ErrHeld) {
			t.Errorf("got %v", err)
		}
	})
}

// Goal: a wait goes on over an outage, and over a store that refuses although
// it should have waited, without spinning.
func TestWaitGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		newID bool // for each ask
	}{
		"unavailable": {&tenure.UnavailableError{Reason: "no leader"}, false},
		"held early":  {heldBySomebody, false},
		"lost":        {&tenure.LostError{Key: key, RequestID: "x"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				b.store.put(failing(acquire, c.err))
				time.AfterFunc(time.Minute, func() { b.store.put(nil) })
				if _, err := b.AcquireWait(t.Context(), key); err != nil {
					t.Error(err)
				}
				if n := len(b.store.sent(acquire)); n > 120 {
					t.Errorf("%d requests in a minute", n)
				}
				if asks := b.store.sent(acquire); (asks[0].ids[0] != asks[1].ids[0]) != c.newID {
					t.Errorf("request ids %q, %q", asks[0].ids, asks[1].ids)
				}
			})
		})
	}
}

// Goal: a wait of days is more than one ask, and never more than the store
// allows.
func TestWaitLongerThanAnAskMay(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		theirs, err := b.make(holder.Config{Replica: "replica-2", TTL: time.Hour}).Acquire(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(50*time.Hour, func() { _ = theirs.Release(context.Background()) })
		start := time.Now()
		if _, err := b.AcquireWait(b.within(100*time.Hour), key); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited > 50*time.Hour+5*time.Second {
			t.Errorf("waited %v", waited)
		}
	})
}
