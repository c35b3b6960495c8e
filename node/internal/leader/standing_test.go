package leader

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure"
	"example.com/tenure/fsm"
)

// wantMaybe checks that a result says 'may have been applied', and not held, not
// even as a cause.
func wantMaybe(t *testing.T, who string, got tenure.Result) {
	t.Helper()
	var u *tenure.UnavailableError
	if !errors.As(got.Err, &u) || !u.MaybeApplied || errors.Is(got.Err, tenure.ErrHeld) {
		t.Errorf("%s got %+v, %v, want unavailable and maybe applied", who, got.Grant, got.Err)
	}
}

// A place in line is one of a connection that is dead, which nobody has noticed.
// Its client asks again under the same id without waiting: it may yet be granted
// the key, in the very entry that would tell it held, and must not be told so.
func TestOwnPlaceInLineIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		g := b.must(acquire("k", "a", "1", time.Minute, 0))
		lost := b.submit(acquire("k", "b", "1", time.Minute, time.Hour))
		synctest.Wait()
		wantMaybe(t, "a retry while the key is held", (<-b.submit(acquire("k", "b", "1", time.Minute, 0)))[0])
		for who, other := range map[string]*Request{
			"another owner": acquire("k", "c", "1", time.Minute, 0),
			"another id":    acquire("k", "b", "2", time.Minute, 0),
		} {
			if got := (<-b.submit(other))[0]; !errors.Is(got.Err, tenure.ErrHeld) {
				t.Errorf("%s got %+v, want held", who, got)
			}
		}

		letGo := b.holdEntries()
		b.submit(renew("k", "a", g.Record.Epoch, time.Minute)) // an entry in flight
		synctest.Wait()
		retry := b.submit(acquire("k", "b", "1", time.Minute, 0))
		released := b.submit(release("k", "a", g.Record.Epoch))
		b.releaseEntries()
		letGo()
		<-released
		wantMaybe(t, "a retry in the entry that grants its id the key", (<-retry)[0])
		granted := (<-lost)[0].Grant
		if again := b.must(acquire("k", "b", "1", time.Minute, 0)); again.Record.Epoch != granted.Record.Epoch || again.Record.Epoch != g.Record.Epoch+1 {
			t.Errorf("a later retry got %+v, and the place %+v, want epoch %d", again, granted, g.Record.Epoch+1)
		}
	})
}

// Two waits share a place, and the shorter one ends, once while the key is held
// and once in the entry that grants the place.
func TestWaitThatEndsBeforeItsTwinIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.must(acquire("k", "a", "1", time.Minute, 0)) // ends in a minute
		long := b.submit(acquire("k", "b", "1", time.Minute, time.Hour))
		early := b.submit(acquire("k", "b", "1", time.Minute, time.Second))
		last := b.submit(acquire("k", "b", "1", time.Minute, time.Minute))
		start := time.Now()
		wantMaybe(t, "the wait that ended", (<-early)[0])
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("it ended after %v, want 1s", waited)
		}
		wantMaybe(t, "the wait that ended with the tenure", (<-last)[0])
		if got := (<-long)[0]; got.Err != nil || got.Grant.Record.Epoch != 2 {
			t.Errorf("the place got %+v", got)
		}
	})
}

// A wait ends in the entry that proposes a retry of it which doesn't wait, and
// grants that one the key.
func TestWaitThatEndsBesideItsRetryIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		g := b.must(acquire("k", "a", "1", time.Minute, 0))
		first := b.submit(acquire("k", "b", "1", time.Minute, time.Second))
		synctest.Wait()
		letGo := b.holdEntries()
		b.submit(renew("k", "a", g.Record.Epoch, time.Minute)) // an entry in flight
		time.Sleep(2 * time.Second)
		retry := b.submit(acquire("k", "b", "1", time.Minute, 0))
		b.submit(release("k", "a", g.Record.Epoch))
		b.releaseEntries()
		letGo()
		wantMaybe(t, "the wait that ended", (<-first)[0])
		if got := (<-retry)[0]; got.Err != nil || got.Grant.Record.Epoch != g.Record.Epoch+1 {
			t.Errorf("the retry got %+v", got)
		}
	})
}

// An acquire is queued behind a flood; meanwhile another comes to the key's
// line, has the key and releases it. A retry of the first is not told held, by
// that other, before it is known what becomes of the first.
func TestRetryIsNotHeldBeforeTheFirstIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		letGo := b.holdEntries()
		b.submit(&Request{}) // an entry in flight
		synctest.Wait()
		flood := &Request{}
		for range 2 * maxCommands {
			flood.Commands = append(flood.Commands, fsm.Command{Kind: fsm.Acquire, Key: "flood", Owner: "f", RequestID: "1", TTL: time.Minute})
		}
		b.submit(flood)
		first := b.submit(acquire("k", "b", "1", time.Minute, 0))
		letFloodGo := b.holdEntries()
		letGo()
		synctest.Wait()
		other := b.submit(acquire("k", "c", "1", time.Minute, time.Hour))
		retry := b.submit(acquire("k", "b", "1", time.Minute, 0))
		letOtherGo := b.holdEntries()
		letFloodGo()
		synctest.Wait()
		b.submit(release("k", "c", 1))
		b.releaseEntries()
		letOtherGo()
		if got := (<-other)[0]; got.Err != nil || got.Grant.Record.Epoch != 1 {
			t.Fatalf("the one in line got %+v", got)
		}
		one, two := (<-first)[0], (<-retry)[0]
		if one.Err != nil || errors.Is(two.Err, tenure.ErrHeld) {
			t.Errorf("the first got %+v, and its retry was told %v", one, two.Err)
		}
	})
}

// A caller that goes is told 'not applied' only if no other request under its id
// stands in line.
func TestCallerThatGoesMayHaveAPlaceStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.must(acquire("k", "a", "1", time.Minute, 0))
		one, two := acquire("k", "b", "1", time.Minute, time.Hour), acquire("k", "b", "1", time.Minute, time.Hour)
		b.submit(one)
		b.submit(two)
		synctest.Wait()
		wantMaybe(t, "the first to go", b.s.End(one, context.Canceled)[0])
		var u *tenure.UnavailableError
		if got := b.s.End(two, context.Canceled)[0]; !errors.As(got.Err, &u) || u.MaybeApplied {
			t.Errorf("the last to go got %+v, want unavailable and not applied", got)
		}
	})
}

// What is told of a tenure that refused an acquire is what refused it, also when
// it is released later in the same entry: there is no line to blame.
func TestHeldTellsOfTheTenureThatRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		g := b.must(acquire("k", "a", "1", time.Minute, 0))
		waited := b.submit(acquire("k", "b", "1", time.Minute, time.Second))
		synctest.Wait()
		letGo := b.holdEntries()
		b.submit(renew("k", "a", g.Record.Epoch, time.Minute)) // an entry in flight
		time.Sleep(2 * time.Second)
		released := b.submit(release("k", "a", g.Record.Epoch))
		b.releaseEntries()
		letGo()
		<-released
		var held *tenure.HeldError
		if got := (<-waited)[0]; !errors.As(got.Err, &held) || !held.Record.Held || held.Record.Owner != "a" {
			t.Errorf("the waiter got %v, want held by a", got.Err)
		}
	})
}

// An acquire is refused, and the tenure that refused it is released behind it in
// the same entry, which renewals had filled up to the acquires' part.
func TestHeldTellsOfATenureThatIsReleasedBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		g := b.must(acquire("k", "a", "1", time.Minute, 0))
		renewals := &Request{}
		c := renew("k", "a", g.Record.Epoch, time.Minute).Commands[0]
		translated := fsm.Command{Number: fsm.Number{Slot: 1, Serial: 1}}
		for range maxBytes / 4 * 3 / size(&translated) {
			renewals.Commands = append(renewals.Commands, c)
		}
		letGo := b.holdEntries()
		b.submit(&Request{}) // an entry in flight
		synctest.Wait()
		b.submit(renewals)
		asked := b.submit(acquire("k", "b", "1", time.Minute, 0))
		released := b.submit(release("k", "a", g.Record.Epoch))
		before := b.proposed()
		b.releaseEntries()
		letGo()
		<-released
		var held *tenure.HeldError
		if got := (<-asked)[0]; !errors.As(got.Err, &held) || !held.Record.Held || held.Record.Owner != "a" || held.Remaining != 0 {
			t.Errorf("the acquire got %+v, want held by a for no time", got.Err)
		}
		if n := b.proposed() - before; n != 2 {
			t.Errorf("there were %d entries, want the one in flight and one more", n)
		}
	})
}
