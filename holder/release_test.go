package holder_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
)

// Goal: a release closes the gate at the call, before the store knows.
func TestReleaseClosesTheGateAtTheCall(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		ctx := lease.Context()
		b.store.put(func(_ context.Context, r request, send func() []tenure.Result) []tenure.Result {
			if r.op == release {
				if reasonOf(lease.AssertHeld()) != tenure.LeaseReleased || reasonOf(context.Cause(ctx)) != tenure.LeaseReleased {
					t.Errorf("while the release is on its way: %v, %v", lease.AssertHeld(), context.Cause(ctx))
				}
			}
			return send()
		})
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if reasonOf(lease.Err()) != tenure.LeaseReleased {
			t.Errorf("got %v", lease.Err())
		}
	})
}

// Goal: a second release, one at the same time and one after a loss are
// successes and send nothing.
func TestReleaseTwice(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.put(later(time.Second))
		errs := make(chan error, 2)
		for range 2 {
			go func() { errs <- lease.Release(t.Context()) }()
		}
		for range 2 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		lost := b.acquire(key)
		b.store.put(failing(renew, &tenure.LostError{Key: key}))
		<-lost.Done()
		if err := lost.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if n := len(b.store.sent(release)); n != 1 {
			t.Errorf("%d releases were sent, want 1", n)
		}
	})
}

// Goal: what a failed release leaves behind is told as far as it is known, also
// to who waited for it. Where its answer was lost somebody else may have the key
// already, and nobody is told that they haven't.
func TestReleaseOfUnknownOutcome(t *testing.T) {
	for _, maybe := range []bool{false, true} {
		inBubble(t, func(t *testing.T, b *bubble) {
			lease := b.acquire(key)
			b.store.put(failing(release, &tenure.UnavailableError{Key: key, MaybeApplied: maybe, Reason: "no answer"}))
			errs := make(chan error, 2)
			for _, patience := range []time.Duration{time.Second, time.Hour} {
				go func() { errs <- lease.Release(b.within(patience)) }()
				synctest.Wait()
			}
			for range 2 {
				err := <-errs
				var u *tenure.UnavailableError
				if !errors.As(err, &u) || u.MaybeApplied != maybe || strings.Contains(err.Error(), "nobody else gets the key") == maybe {
					t.Errorf("maybe applied is %v, told: %v", maybe, err)
				}
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Errorf("once it is over: %v", err)
			}
		})
	}
}

// Goal: a release answered lost is a success.
func TestReleaseOfALostTenure(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.put(failing(release, &tenure.LostError{Key: key, Epoch: 1}))
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Goal: a release that can't reach the store tries until its context ends and
// returns the error. Nothing is sent for the tenure afterwards, neither a
// renewal nor a release, and it runs out by its TTL.
func TestReleaseUnreachable(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		granted := time.Now()
		b.store.SetReachable(false)
		err := lease.Release(b.within(2 * time.Second))
		if !errors.Is(err, tenure.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(granted); waited != 2*time.Second {
			t.Errorf("it took %v", waited)
		}
		before := len(b.store.requests)
		b.store.SetReachable(true)
		if view := b.store.Get(key); !view.Record.Held {
			t.Errorf("the store has %+v", view)
		}
		other := b.another("replica-2")
		if _, err := other.AcquireWait(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(granted); waited != ttl {
			t.Errorf("the next owner came after %v, want %v", waited, ttl)
		}
		for _, r := range b.store.requests[before:] {
			if r.op != acquire && r.epochs[0] == lease.Epoch() {
				t.Errorf("a %s for the released tenure", r.op)
			}
		}
		select {
		case <-lease.Done():
		default:
			t.Error("the handle is not done")
		}
	})
}

// Goal: without a deadline, a release ends at the latest about when the TTL
// has passed: from then on it is of no use to anybody.
func TestReleaseEndsWithTheTTL(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		granted := time.Now()
		b.store.SetReachable(false)
		if err := lease.Release(t.Context()); !errors.Is(err, tenure.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(granted); waited > ttl {
			t.Errorf("it took %v", waited)
		}
	})
}

// Goal: a short outage, as at a change of leader, doesn't cost the handover.
func TestReleaseSurvivesAShortOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.SetReachable(false)
		time.AfterFunc(time.Second, func() { b.store.SetReachable(true) })
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if b.store.Get(key).Record.Held {
			t.Error("the tenure stands")
		}
	})
}

// Goal: a release while a renewal is on its way closes the gate at once and is
// sent after that renewal has ended; its late answer opens nothing.
func TestReleaseWhileRenewing(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		const delay = 2 * time.Second
		b.store.put(func(_ context.Context, r request, send func() []tenure.Result) []tenure.Result {
			results := send()
			if r.op == renew {
				time.Sleep(delay)
			}
			return results
		})
		for len(b.store.sent(renew)) == 0 {
			time.Sleep(time.Millisecond)
		}
		sentAt := b.store.sent(renew)[0].at
		time.Sleep(delay / 2)
		done := make(chan error)
		go func() { done <- lease.Release(t.Context()) }()
		synctest.Wait()
		if lease.AssertHeld() == nil {
			t.Error("the gate is open")
		}
		if len(b.store.sent(release)) != 0 {
			t.Error("the release overtook the renewal")
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if at := b.store.sent(release)[0].at; at.Sub(sentAt) != delay {
			t.Errorf("released %v after the renewal was sent, want %v", at.Sub(sentAt), delay)
		}
		time.Sleep(2 * ttl)
		if n := len(b.store.sentFor(renew, key, lease.Epoch())); n != 1 {
			t.Errorf("%d renewals, want 1", n)
		}
		if lease.AssertHeld() == nil {
			t.Error("the gate is open again")
		}
	})
}

// Goal: a release behind a renewal that hangs ends with its own context.
func TestReleaseBehindAHangingRenewal(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.put(silence)
		for len(b.store.sent(renew)) == 0 {
			time.Sleep(time.Millisecond)
		}
		start := time.Now()
		err := lease.Release(b.within(time.Second))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		if n := len(b.store.sent(release)); n != 0 {
			t.Errorf("%d releases overtook the renewal", n)
		}
	})
}

// Goal: who waits in line has the key in the instant of the release.
func TestReleaseHandsOver(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		other := b.another("replica-2")
		got := make(chan *holder.Lease)
		go func() {
			theirs, err := other.AcquireWait(t.Context(), key)
			if err != nil {
				t.Error(err)
			}
			got <- theirs
		}()
		time.Sleep(time.Minute)
		released := time.Now()
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		theirs := <-got
		if time.Since(released) != 0 || theirs.Epoch() != 2 || theirs.AssertHeld() != nil {
			t.Errorf("after %v epoch %d: %v", time.Since(released), theirs.Epoch(), theirs.AssertHeld())
		}
	})
}

// Goal: a key without durable copies leaves no record behind, in one request.
func TestReleaseForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		if err := b.acquire(key).ReleaseForgotten(t.Context()); err != nil {
			t.Fatal(err)
		}
		if list := b.store.List(); len(list) != 0 || len(b.store.sent(forget)) != 0 {
			t.Errorf("the store still has %v", list)
		}
		if lease := b.acquire(key); lease.Epoch() != 2 || lease.ForgottenAtEpoch() != 1 {
			t.Errorf("epoch %d, forgotten at %d", lease.Epoch(), lease.ForgottenAtEpoch())
		}
	})
}

// Goal: Forget shuts the gate for good at the call, whatever comes of it.
// Renewals go on, so that a retry can succeed.
func TestForget(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		ctx := lease.Context()
		b.store.put(func(c context.Context, r request, send func() []tenure.Result) []tenure.Result {
			if r.op != forget {
				return send()
			}
			if reasonOf(lease.AssertHeld()) != tenure.LeaseReleased || ctx.Err() == nil {
				t.Errorf("while the forget is on its way: %v, %v", lease.AssertHeld(), ctx.Err())
			}
			return silence(c, r, send)
		})
		if _, err := lease.Forget(b.within(time.Second)); !errors.Is(err, tenure.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		time.Sleep(ttl - margin)
		if lease.AssertHeld() == nil || lease.Context().Err() == nil || lease.Err() != nil {
			t.Errorf("after the forget: %v, %v", lease.AssertHeld(), lease.Err())
		}
		if n := len(b.store.sent(renew)); n == 0 {
			t.Error("no renewals")
		}
		b.store.put(nil)
		record, err := lease.Forget(t.Context())
		if err != nil || record.ForgottenAtEpoch != lease.Epoch() || record.Epoch != lease.Epoch() || !record.Held {
			t.Errorf("got %+v, %v", record, err)
		}
		if lease.AssertHeld() == nil {
			t.Error("the gate is open again")
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if list := b.store.List(); len(list) != 0 {
			t.Errorf("the store still has %v", list)
		}
		if _, err := lease.Forget(t.Context()); reasonOf(err) != tenure.LeaseReleased {
			t.Errorf("forget after the release: %v", err)
		}
	})
}

// Goal: a forget that is answered lost ends the lease.
func TestForgetLost(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.put(failing(forget, &tenure.LostError{Key: key, Epoch: 1}))
		if _, err := lease.Forget(t.Context()); !errors.Is(err, tenure.ErrLost) {
			t.Errorf("got %v", err)
		}
		if reasonOf(lease.Err()) != tenure.LeaseLost {
			t.Errorf("got %v", lease.Err())
		}
	})
}

// Goal: what an attempt of unknown outcome may have forgotten is not told as
// lost, neither by the store's answer to the next one nor because the lease has
// ended.
func TestForgetLostAfterAnUnknownOutcome(t *testing.T) {
	unknown := &tenure.UnavailableError{Key: key, MaybeApplied: true, Reason: "no answer"}
	for _, c := range []struct {
		name   string
		record tenure.Record // that the last answer tells
		lost   bool          // it says that nothing was forgotten
	}{
		{"a record that is not known any more", tenure.Record{}, false},
		{"a successor's record, of which the tenure is forgotten", tenure.Record{Key: key, Owner: "b", Epoch: 2, ForgottenAtEpoch: 1, Held: true}, false},
		{"a successor's record, of which it is not", tenure.Record{Key: key, Owner: "b", Epoch: 2, Held: true}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				lease := b.acquire(key)
				b.store.put(inTurn(forget, unknown, &tenure.LostError{Key: key, Epoch: 1, Record: c.record}))
				record, err := lease.Forget(t.Context())
				var u *tenure.UnavailableError
				if maybe := errors.As(err, &u) && u.MaybeApplied; maybe == c.lost || errors.Is(err, tenure.ErrLost) != c.lost || record != (tenure.Record{}) {
					t.Errorf("got %+v, %v", record, err)
				}
				if reasonOf(lease.Err()) != tenure.LeaseLost {
					t.Errorf("the lease: %v", lease.Err())
				}
			})
		})
	}
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.put(failing(forget, unknown))
		done := make(chan error)
		go func() {
			_, err := lease.Forget(t.Context())
			done <- err
		}()
		time.Sleep(ttl)
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		var u *tenure.UnavailableError
		if err := <-done; !errors.As(err, &u) || !u.MaybeApplied || errors.Is(err, tenure.ErrLost) {
			t.Errorf("got %v", err)
		}
	})
}

// Goal: a lease is not let go while a forget of it is tried, however long it
// takes and whatever other forgets became of.
func TestForgetsTakeLong(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.put(failing(forget, &tenure.UnavailableError{Reason: "no leader"}))
		done := make(chan error)
		for _, patience := range []time.Duration{time.Second, 5 * ttl, 2 * time.Second} {
			go func() {
				_, err := lease.Forget(b.within(patience))
				done <- err
			}()
			time.Sleep(500 * time.Millisecond)
		}
		for range 3 {
			if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		}
		if lease.Err() != nil {
			t.Errorf("let go: %v", lease.Err())
		}
	})
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.put(failing(forget, &tenure.UnavailableError{Reason: "no leader"}))
		for _, patience := range []time.Duration{time.Second, 3 * ttl} { // one after the other
			if _, err := lease.Forget(b.within(patience)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		}
	})
}

// Goal: a forget that is tried in vain ends when the lease is released.
func TestForgetEndsWithTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.put(failing(forget, &tenure.UnavailableError{Reason: "no leader"}))
		done := make(chan error)
		go func() {
			_, err := lease.Forget(t.Context())
			done <- err
		}()
		time.Sleep(3 * ttl)
		if lease.Err() != nil {
			t.Errorf("let go while the forget was tried: %v", lease.Err())
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, tenure.ErrLost) {
			t.Errorf("got %v", err)
		}
	})
}
