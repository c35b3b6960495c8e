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
)

// later sends a request and holds its answer back for d, whatever the context.
func later(d time.Duration) func(context.Context, request, func() []tenure.Result) []tenure.Result {
	return func(_ context.Context, _ request, send func() []tenure.Result) []tenure.Result {
		results := send()
		time.Sleep(d)
		return results
	}
}

// failing answers every request of one kind with an error, and sends the others.
func failing(op string, err error) func(context.Context, request, func() []tenure.Result) []tenure.Result {
	return func(_ context.Context, r request, send func() []tenure.Result) []tenure.Result {
		if r.op != op {
			return send()
		}
		return unanswered(len(r.keys), err)
	}
}

// inTurn answers the requests of one kind with the given errors, one after the
// other, and then not at all.
func inTurn(op string, errs ...error) func(context.Context, request, func() []tenure.Result) []tenure.Result {
	return func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result {
		if r.op != op {
			return send()
		}
		if len(errs) == 0 {
			return silence(ctx, r, send)
		}
		err := errs[0]
		errs = errs[1:]
		return unanswered(len(r.keys), err)
	}
}

// Goal: the fence of a renewal counts from before it was sent: an answer that
// took two seconds leaves two seconds less.
func TestFenceOfALateRenewal(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.put(later(2 * time.Second))
		for len(b.store.sent(renew)) == 0 {
			time.Sleep(time.Millisecond)
		}
		b.store.put(silence)
		sentAt := b.store.sent(renew)[0].at
		time.Sleep(2*time.Second + time.Millisecond)
		synctest.Wait()
		if got, want := time.Now().Add(lease.Remaining()), sentAt.Add(ttl-margin); !got.Equal(want) {
			t.Errorf("the fence is %v after the request, want %v", got.Sub(sentAt), ttl-margin)
		}
	})
}

// Goal: a renewal never moves the fence back, whatever TTL it is answered with,
// and a TTL greater than the asked one moves it no further.
func TestFenceOnlyMovesForward(t *testing.T) {
	for _, granted := range []time.Duration{-ttl, 0, 1, ttl / 2, 3 * ttl, 1<<63 - 1} {
		t.Run(granted.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				lease := b.acquire(key)
				b.store.put(func(_ context.Context, r request, send func() []tenure.Result) []tenure.Result {
					results := send()
					for i := range results {
						results[i].Grant.TTL = granted
					}
					return results
				})
				ctx := lease.Context()
				before := time.Now().Add(lease.Remaining())
				for len(b.store.sent(renew)) == 0 {
					time.Sleep(time.Millisecond)
				}
				synctest.Wait()
				fence := time.Now().Add(lease.Remaining())
				latest := b.store.sent(renew)[0].at.Add(min(granted, ttl) - margin)
				if want := maxTime(before, latest); !fence.Equal(want) {
					t.Errorf("the fence moved from %v to %v, want %v", before, fence, want)
				}
				if ctx.Err() != nil || lease.Err() != nil {
					t.Errorf("the gate is open, but %v, %v", ctx.Err(), lease.Err())
				}
			})
		})
	}
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Goal: a refused renewal is final: the gate is shut, the cause is told, no
// renewal follows, and the key can be acquired anew by the same holder.
func TestRefusedRenewal(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		ctx := lease.Context()
		// Somebody with the right to do so ends the tenure behind the holder's back.
		if err := b.store.Store.Release(t.Context(), tenure.ReleaseRequest{
			Owner:   b.Owner(),
			Endings: []tenure.Ending{{Key: key, Epoch: lease.Epoch()}},
		})[0].Err; err != nil {
			t.Fatal(err)
		}
		<-lease.Done()
		lostAt := time.Now()
		for _, err := range []error{lease.Err(), lease.AssertHeld(), context.Cause(ctx)} {
			if reasonOf(err) != tenure.LeaseLost || !errors.Is(err, tenure.ErrLost) {
				t.Errorf("got %v", err)
			}
		}
		time.Sleep(3 * ttl)
		for _, r := range b.store.sentFor(renew, key, lease.Epoch()) {
			if r.at.After(lostAt) {
				t.Errorf("a renewal %v after the loss", r.at.Sub(lostAt))
			}
		}
		if again := b.acquire(key); again.Epoch() <= lease.Epoch() {
			t.Errorf("epoch %d after %d", again.Epoch(), lease.Epoch())
		}
		if reasonOf(lease.AssertHeld()) != tenure.LeaseLost {
			t.Error("the old handle came back")
		}
	})
}

// Goal: only an answer that the tenure is over ends it. Every other error
// leaves the fence where it is, and the lease goes on when the store answers
// again: no loss is signalled.
func TestOnlyLostEndsALease(t *testing.T) {
	transient := map[string]error{
		"not leader":          &tenure.UnavailableError{Reason: "not leader"},
		"leadership lost":     &tenure.UnavailableError{Reason: "leadership lost", MaybeApplied: true},
		"transfer":            &tenure.UnavailableError{Reason: "leadership transfer in progress"},
		"queue full":          &tenure.UnavailableError{Reason: "timed out enqueuing operation"},
		"shutdown":            &tenure.UnavailableError{Reason: "raft is already shutdown"},
		"restored":            &tenure.UnavailableError{Reason: "snapshot restored while committing log", MaybeApplied: true},
		"wrapped":             fmt.Errorf("one hop: %w", &tenure.UnavailableError{Reason: "no quorum"}),
		"deadline":            context.DeadlineExceeded,
		"cancelled":           context.Canceled,
		"tls":                 errors.New("tls: handshake failure"),
		"reset":               io.ErrUnexpectedEOF,
		"held":                &tenure.HeldError{Record: tenure.Record{Key: key, Owner: "somebody", Epoch: 7, Held: true}},
		"invalid":             &tenure.InvalidError{Field: "ttl", Value: "10s", Bound: "less"},
		"fenced, of the node": tenure.ErrFenced,
	}
	for name, err := range transient {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				lease := b.acquire(key)
				b.store.put(failing(renew, err))
				time.Sleep(ttl - 2*margin)
				if err := lease.AssertHeld(); err != nil {
					t.Errorf("before the fence: %v", err)
				}
				if n := len(b.store.sent(renew)); n < 3 {
					t.Errorf("%d attempts", n)
				}
				b.store.put(nil)
				time.Sleep(ttl)
				if err := lease.AssertHeld(); err != nil || lease.Err() != nil {
					t.Errorf("after it: %v, %v", err, lease.Err())
				}
			})
		})
	}
	for name, err := range map[string]error{
		"lost":    &tenure.LostError{Key: key, Epoch: 1},
		"wrapped": fmt.Errorf("one hop: %w", &tenure.LostError{Key: key, Epoch: 1}),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				lease := b.acquire(key)
				b.store.put(failing(renew, err))
				time.Sleep(ttl / 3)
				if reasonOf(lease.Err()) != tenure.LeaseLost {
					t.Errorf("got %v", lease.Err())
				}
			})
		})
	}
}

// Goal: an answer for another key, owner or epoch, or one that says that
// nobody holds the key, is a loss.
func TestAnswerForAnother(t *testing.T) {
	for name, spoil := range map[string]func(*tenure.Record){
		"key":      func(r *tenure.Record) { r.Key = "tenant-43" },
		"owner":    func(r *tenure.Record) { r.Owner = "replica-1/another" },
		"higher":   func(r *tenure.Record) { r.Epoch++ },
		"lower":    func(r *tenure.Record) { r.Epoch-- },
		"not held": func(r *tenure.Record) { r.Held = false },
	} {
		spoilAnswer := func(op string) func(context.Context, request, func() []tenure.Result) []tenure.Result {
			return func(_ context.Context, r request, send func() []tenure.Result) []tenure.Result {
				results := send()
				if r.op == op {
					spoil(&results[0].Grant.Record)
				}
				return results
			}
		}
		t.Run("renew/"+name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				lease := b.acquire(key)
				b.store.put(spoilAnswer(renew))
				<-lease.Done()
				if !errors.Is(lease.AssertHeld(), tenure.ErrLost) {
					t.Errorf("got %v", lease.AssertHeld())
				}
			})
		})
		if name == "higher" {
			continue // an acquire has no epoch that it expects
		}
		t.Run("acquire/"+name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				b.store.put(spoilAnswer(acquire))
				lease, err := b.Acquire(t.Context(), key)
				if lease != nil || !errors.Is(err, tenure.ErrLost) {
					t.Errorf("got %v, %v", lease, err)
				}
				synctest.Wait()
				if b.store.Get(key).Record.Held {
					t.Error("the tenure stayed behind")
				}
			})
		})
	}
}

// Goal: a store that leaves results out has not answered.
func TestMissingResults(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.put(func(context.Context, request, func() []tenure.Result) []tenure.Result { return nil })
		time.Sleep(ttl)
		if reasonOf(lease.AssertHeld()) != tenure.LeaseExpiredLocally {
			t.Errorf("got %v", lease.AssertHeld())
		}
		if _, err := b.Acquire(b.within(time.Second), "another"); !errors.Is(err, tenure.ErrUnavailable) {
			t.Errorf("acquire: %v", err)
		}
	})
}

// Goal: a renewal that hangs delays nothing. The gate and the context close at
// the fence; within it there was time for another attempt; and the attempts
// end by their own timeouts.
func TestHangingRenewal(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		fence := time.Now().Add(lease.Remaining())
		ctx := lease.Context()
		b.store.put(silence)
		<-ctx.Done()
		if late := time.Since(fence); late < 0 || late > time.Millisecond {
			t.Errorf("the context ended %v after the fence", late)
		}
		if n := len(b.store.sent(renew)); n < 2 {
			t.Errorf("%d attempts before the fence, want at least 2", n)
		}
	})
}

// Goal: a store that is away for longer than the fence, for hours even, takes
// no lease. The gate is closed meanwhile, the holder tries on, and the same
// tenure is resumed under its epoch.
func TestOutageLongerThanTheFence(t *testing.T) {
	for _, outage := range []time.Duration{ttl, 3 * ttl, 10 * time.Hour} {
		t.Run(outage.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				lease := b.acquire(key)
				b.store.SetReachable(false)
				time.Sleep(outage)
				if reasonOf(lease.AssertHeld()) != tenure.LeaseExpiredLocally {
					t.Errorf("during the outage: %v", lease.AssertHeld())
				}
				b.store.SetReachable(true)
				time.Sleep(ttl / 4)
				if err := lease.AssertHeld(); err != nil {
					t.Errorf("a quarter of a TTL after the outage: %v", err)
				}
				if epoch := b.store.Get(key).Record.Epoch; epoch != lease.Epoch() || lease.Err() != nil {
					t.Errorf("epoch %d, err %v", epoch, lease.Err())
				}
			})
		})
	}
}

// Goal: the same outage with somebody who was granted the key is a loss, told
// by the first answer, and the old gate never opened in between.
func TestOutageWithATakeover(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		b.store.put(func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result {
			if r.op == renew && r.epochs[0] == lease.Epoch() {
				return silence(ctx, r, send)
			}
			return send()
		})
		other := b.another("replica-2")
		theirs, err := other.AcquireWait(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if lease.AssertHeld() == nil {
			t.Error("two gates are open")
		}
		if theirs.Epoch() != lease.Epoch()+1 {
			t.Errorf("epoch %d after %d", theirs.Epoch(), lease.Epoch())
		}
		b.store.put(nil)
		<-lease.Done()
		if !errors.Is(lease.Err(), tenure.ErrLost) {
			t.Errorf("got %v", lease.Err())
		}
		if err := theirs.AssertHeld(); err != nil {
			t.Error(err)
		}
	})
}

// Goal: the forgotten epoch is that of the beginning of the tenure, and Live
// goes by it, whatever later answers say.
func TestLive(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		for range 3 {
			if err := b.acquire(key).Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		lease := b.acquire(key) // epoch 4
		if _, err := lease.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		lease = b.acquire(key) // epoch 5
		if lease.ForgottenAtEpoch() != 4 || lease.Epoch() != 5 {
			t.Errorf("epoch %d, forgotten at %d", lease.Epoch(), lease.ForgottenAtEpoch())
		}
		for epoch, want := range map[uint64]bool{0: false, 3: false, 4: false, 5: true, 6: false, 1 << 63: false} {
			if lease.Live(epoch) != want {
				t.Errorf("Live(%d) = %t", epoch, !want)
			}
		}
		if _, err := lease.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl / 2)
		if lease.ForgottenAtEpoch() != 4 || !lease.Live(5) {
			t.Error("the forgotten epoch changed within the tenure")
		}
	})
}
