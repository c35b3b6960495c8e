package holdertest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/tenure"
	"example.com/tenure/holder/holdertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ttl = 10 * time.Second

// A user is one owner at the store.
type user struct {
	*testing.T
	store *holdertest.Store
	owner string
}

func (u user) acquire(key, id string, wait time.Duration) tenure.Result {
	return u.store.Acquire(u.Context(), tenure.AcquireRequest{
		Owner: u.owner, Asks: []tenure.Ask{{Key: key, RequestID: id, TTL: ttl, Wait: wait}},
	})[0]
}

func (u user) renew(key string, epoch uint64, ttl time.Duration) tenure.Result {
	return u.store.Renew(u.Context(), tenure.RenewRequest{
		Owner: u.owner, Renewals: []tenure.Renewal{{Key: key, Epoch: epoch, TTL: ttl}},
	})[0]
}

func (u user) release(e tenure.Ending, forget bool) tenure.Result {
	return u.store.Release(u.Context(), tenure.ReleaseRequest{Owner: u.owner, Endings: []tenure.Ending{e}, Forget: forget})[0]
}

func (u user) forget(key string, epoch uint64) tenure.Result {
	return u.store.Forget(u.Context(), tenure.ForgetRequest{
		Owner: u.owner, Tenures: []tenure.Tenure{{Key: key, Epoch: epoch}},
	})[0]
}

// granted checks that a result is a grant of an epoch.
func (u user) granted(r tenure.Result, epoch uint64) {
	u.Helper()
	if r.Err != nil || r.Grant.Record.Epoch != epoch || r.Grant.Record.Owner != u.owner || !r.Grant.Record.Held || r.Grant.TTL < ttl {
		u.Errorf("got %+v, want epoch %d of %s", r, epoch, u.owner)
	}
}

func (u user) refused(r tenure.Result, meaning error) {
	u.Helper()
	if !errors.Is(r.Err, meaning) {
		u.Errorf("got %+v, want %v", r, meaning)
	}
}

func inBubble(t *testing.T, test func(s *holdertest.Store, a, b user)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := holdertest.NewStore(nil)
		test(s, user{t, s, "a"}, user{t, s, "b"})
	})
}

// Goal: a retry under the same id gets the same tenure, another id doesn't,
// and the id of an ended tenure is refused.
func TestRequestIDs(t *testing.T) {
	inBubble(t, func(s *holdertest.Store, a, b user) {
		first := a.acquire("k", "1", 0)
		a.granted(first, 1)
		again := a.acquire("k", "1", 0)
		a.granted(again, 1)
		if again.Grant.Index <= first.Grant.Index {
			a.Error("a retry is a new entry, and has a new grant index")
		}
		a.refused(a.acquire("k", "2", 0), tenure.ErrHeld)
		b.refused(b.acquire("k", "1", 0), tenure.ErrHeld)
		if r := a.release(tenure.Ending{Key: "k", RequestID: "1"}, false); r.Err != nil || r.Grant.Record.Held {
			a.Errorf("got %+v", r)
		}
		a.refused(a.acquire("k", "1", 0), tenure.ErrLost)
		a.refused(a.release(tenure.Ending{Key: "k", RequestID: "1"}, false), tenure.ErrLost)
		b.granted(b.acquire("k", "1", 0), 2)
	})
}

// Goal: expiry changes nothing until somebody is granted the key, and only
// then is the tenure lost.
func TestExpiry(t *testing.T) {
	inBubble(t, func(s *holdertest.Store, a, b user) {
		a.granted(a.acquire("k", "1", 0), 1)
		time.Sleep(ttl - 1)
		b.refused(b.acquire("k", "1", 0), tenure.ErrHeld)
		time.Sleep(time.Nanosecond)
		if view := s.Get("k"); !view.Expired || !view.Record.Held || view.Remaining != 0 {
			a.Errorf("got %+v", view)
		}
		a.granted(a.renew("k", 1, ttl), 1)
		time.Sleep(2 * ttl)
		b.granted(b.acquire("k", "1", 0), 2)
		a.refused(a.renew("k", 1, ttl), tenure.ErrLost)
		a.refused(a.release(tenure.Ending{Key: "k", Epoch: 1}, false), tenure.ErrLost)
		a.refused(a.forget("k", 1), tenure.ErrLost)
	})
}

// Goal: a TTL never shrinks within a tenure.
func TestTTLNeverShrinks(t *testing.T) {
	inBubble(t, func(s *holdertest.Store, a, b user) {
		a.granted(a.acquire("k", "1", 0), 1)
		if r := a.renew("k", 1, 3*ttl); r.Grant.TTL != 3*ttl {
			a.Errorf("got %+v", r)
		}
		if r := a.renew("k", 1, ttl); r.Grant.TTL != 3*ttl {
			a.Errorf("got %+v", r)
		}
		time.Sleep(3*ttl - 1)
		b.refused(b.acquire("k", "1", 0), tenure.ErrHeld)
	})
}

// Goal: what is forgotten and released leaves no record, and no epoch repeats.
func TestForgetAndDrop(t *testing.T) {
	inBubble(t, func(s *holdertest.Store, a, b user) {
		a.granted(a.acquire("k", "1", 0), 1)
		a.release(tenure.Ending{Key: "k", Epoch: 1}, false)
		a.granted(a.acquire("k", "2", 0), 2)
		if r := a.forget("k", 2); r.Grant.Record.ForgottenAtEpoch != 2 || !r.Grant.Record.Held {
			a.Errorf("got %+v", r)
		}
		if r := a.release(tenure.Ending{Key: "k", Epoch: 2}, false); r.Err != nil {
			a.Error(r.Err)
		}
		if list := s.List(); len(list) != 0 {
			a.Errorf("the store still has %v", list)
		}
		if view := s.Get("other"); view.Record.Epoch != 2 || view.Record.ForgottenAtEpoch != 2 {
			a.Errorf("got %+v", view)
		}
		b.granted(b.acquire("k", "1", 0), 3)
		if r := b.release(tenure.Ending{Key: "k", Epoch: 3}, true); r.Err != nil || len(s.List()) != 0 {
			b.Errorf("got %+v", r)
		}
		if r := b.acquire("other", "1", 0); r.Grant.Record.Epoch != 4 || r.Grant.Record.ForgottenAtEpoch != 3 {
			b.Errorf("got %+v", r)
		}
	})
}

// Goal: the line is first come, first served; at a release at once, at an
// expiry when it comes; an acquire that doesn't wait goes behind it.
func TestLine(t *testing.T) {
	inBubble(t, func(s *holdertest.Store, a, b user) {
		c := user{a.T, s, "c"}
		a.granted(a.acquire("k", "1", 0), 1)
		start := time.Now()
		done := make(chan string, 2)
		go func() {
			b.granted(b.acquire("k", "1", time.Minute), 2)
			done <- "b"
		}()
		synctest.Wait()
		go func() {
			c.granted(c.acquire("k", "1", time.Minute), 3)
			done <- "c"
		}()
		synctest.Wait()
		time.Sleep(time.Second)
		a.release(tenure.Ending{Key: "k", Epoch: 1}, false)
		if first := <-done; first != "b" || time.Since(start) != time.Second {
			a.Errorf("%s came after %v", first, time.Since(start))
		}
		a.refused(a.acquire("k", "2", 0), tenure.ErrHeld)
		time.Sleep(ttl / 2)
		b.granted(b.renew("k", 2, ttl), 2)
		if second := <-done; second != "c" || time.Since(start) != time.Second+ttl/2+ttl {
			a.Errorf("%s came after %v", second, time.Since(start))
		}
	})
}

// Goal: a wait ends as held when it is over, and as not applied when it is
// cancelled; whoever left is not granted the key.
func TestLeavingTheLine(t *testing.T) {
	inBubble(t, func(s *holdertest.Store, a, b user) {
		a.granted(a.acquire("k", "1", 0), 1)
		b.refused(b.acquire("k", "1", time.Second), tenure.ErrHeld)

		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		defer cancel()
		r := s.Acquire(ctx, tenure.AcquireRequest{Owner: "b", Asks: []tenure.Ask{{Key: "k", RequestID: "2", TTL: ttl, Wait: time.Minute}}})[0]
		var u *tenure.UnavailableError
		if !errors.As(r.Err, &u) || u.MaybeApplied || !errors.Is(r.Err, context.DeadlineExceeded) {
			b.Errorf("got %+v", r)
		}
		time.Sleep(2 * ttl)
		if view := s.Get("k"); view.Record.Owner != "a" {
			b.Errorf("got %+v", view)
		}
	})
}

// Goal: who asks again under the same id joins the same place, and both get
// the one grant.
func TestJoiningAPlace(t *testing.T) {
	inBubble(t, func(s *holdertest.Store, a, b user) {
		a.granted(a.acquire("k", "1", 0), 1)
		done := make(chan tenure.Result, 3)
		for _, wait := range []time.Duration{time.Minute, time.Minute, time.Second} {
			go func() { done <- b.acquire("k", "1", wait) }()
		}
		b.refused(<-done, tenure.ErrHeld) // the impatient one
		a.release(tenure.Ending{Key: "k", Epoch: 1}, false)
		b.granted(<-done, 2)
		b.granted(<-done, 2)
	})
}

// Goal: an unreachable store answers nothing, those in line included, and
// applies nothing; time goes on meanwhile.
func TestUnreachable(t *testing.T) {
	inBubble(t, func(s *holdertest.Store, a, b user) {
		a.granted(a.acquire("k", "1", 0), 1)
		done := make(chan tenure.Result)
		go func() { done <- b.acquire("k", "1", time.Minute) }()
		synctest.Wait()
		s.SetReachable(false)
		b.refused(<-done, tenure.ErrUnavailable)
		a.refused(a.renew("k", 1, ttl), tenure.ErrUnavailable)
		a.refused(a.release(tenure.Ending{Key: "k", Epoch: 1}, false), tenure.ErrUnavailable)
		a.refused(a.forget("k", 1), tenure.ErrUnavailable)
		b.refused(b.acquire("k", "1", time.Minute), tenure.ErrUnavailable)
		time.Sleep(ttl)
		s.SetReachable(true)
		if view := s.Get("k"); !view.Expired || view.Record.Epoch != 1 {
			a.Errorf("got %+v", view)
		}
	})
}

// Goal: malformed values are refused one by one, and their neighbours are not.
func TestInvalid(t *testing.T) {
	inBubble(t, func(s *holdertest.Store, a, b user) {
		asks := []tenure.Ask{
			{Key: "", RequestID: "1", TTL: ttl},
			{Key: "k\n", RequestID: "1", TTL: ttl},
			{Key: "k", RequestID: "", TTL: ttl},
			{Key: "k", RequestID: strings.Repeat("1", 65), TTL: ttl},
			{Key: "k", RequestID: "1", TTL: 0},
			{Key: "k", RequestID: "1", TTL: 2 * tenure.DefaultLargestTTL},
			{Key: "k", RequestID: "1", TTL: ttl, Wait: -1},
			{Key: "good", RequestID: "1", TTL: ttl},
		}
		results := s.Acquire(a.Context(), tenure.AcquireRequest{Owner: "a", Asks: asks})
		for i, r := range results[:7] {
			if !errors.Is(r.Err, tenure.ErrInvalid) {
				a.Errorf("%+v: %+v", asks[i], r)
			}
		}
		a.granted(results[7], 1)
		a.refused(a.renew("good", 0, ttl), tenure.ErrInvalid)
		a.refused(a.renew("good", 1, time.Microsecond), tenure.ErrInvalid)
		a.refused(a.forget("good", 0), tenure.ErrInvalid)
		a.refused(a.release(tenure.Ending{Key: "good"}, false), tenure.ErrInvalid)
		for _, forget := range []bool{false, true} { // refused whole: nothing is forgotten either
			a.refused(a.release(tenure.Ending{Key: "good", Epoch: 1, RequestID: "1"}, forget), tenure.ErrInvalid)
		}
		if r := s.Get("good").Record; !r.Held || r.ForgottenAtEpoch != 0 {
			a.Errorf("got %+v", r)
		}
		nobody := user{a.T, s, ""}
		nobody.refused(nobody.acquire("k", "1", 0), tenure.ErrInvalid)
		if n := len(s.List()); n != 1 {
			a.Errorf("%d records", n)
		}
	})
}

// Goal: an ended context sends nothing.
func TestEndedContext(t *testing.T) {
	inBubble(t, func(s *holdertest.Store, a, b user) {
		ctx, cancel := context.WithCancel(a.Context())
		cancel()
		r := s.Acquire(ctx, tenure.AcquireRequest{Owner: "a", Asks: []tenure.Ask{{Key: "k", RequestID: "1", TTL: ttl}}})[0]
		var u *tenure.UnavailableError
		if !errors.As(r.Err, &u) || u.MaybeApplied || !errors.Is(r.Err, context.Canceled) || len(s.List()) != 0 {
			a.Errorf("got %+v", r)
		}
	})
}
