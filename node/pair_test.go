package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure"
	"example.com/tenure/fsm"
)

// A tenancy is tenures of epoch 1, and a way that does to them what it is asked
// and then fails as fate has it.
type tenancy struct {
	forgotten, ended map[string]bool
	// fate says of a request of n commands how many are applied, and what the
	// others are told; if that is nil all are told that the outcome is unknown.
	fate  func(n int) (applied int, rest error)
	asked int // requests
}

func (w *tenancy) lease(_ context.Context, b batch) []tenure.Result {
	w.asked++
	results := make([]tenure.Result, len(b.commands))
	applied, rest := w.fate(len(b.commands))
	for i := range b.commands {
		c := &b.commands[i]
		switch {
		case i >= applied:
			results[i].Err = unavailableKey(c.Key, rest)
		case w.ended[c.Key]:
			results[i].Err = &tenure.LostError{Key: c.Key, Owner: c.Owner, Epoch: c.Epoch}
		case c.Kind == fsm.Forget:
			w.forgotten[c.Key] = true
		case c.Kind == fsm.Release:
			w.ended[c.Key] = true
		}
		if rest == nil {
			results[i] = tenure.Result{Err: &tenure.UnavailableError{Key: c.Key, MaybeApplied: true, Reason: "no answer"}}
		}
	}
	return results
}

func newTenancy(fate func(n int) (int, error)) *tenancy {
	return &tenancy{forgotten: make(map[string]bool), ended: make(map[string]bool), fate: fate}
}

func (w *tenancy) verbs() *verbs {
	return &verbs{router{
		way:     func(context.Context) (leaser, error) { return w, nil },
		clock:   tenure.MonotonicClock(),
		largest: func() time.Duration { return time.Hour },
	}}
}

// check compares what was told of a release that also forgets with what became
// of its key.
func (w *tenancy) check(t *testing.T, key string, told error) {
	t.Helper()
	var u *tenure.UnavailableError
	isUnavailable := errors.As(told, &u)
	switch forgotten, ended := w.forgotten[key], w.ended[key]; {
	case told == nil && (!forgotten || !ended):
		t.Errorf("%s: told as done; forgotten %v, ended %v", key, forgotten, ended)
	case isUnavailable && !u.MaybeApplied && (forgotten || ended):
		t.Errorf("%s: told %v; forgotten %v, ended %v", key, told, forgotten, ended)
	case errors.Is(told, tenure.ErrLost) && (forgotten || !ended), errors.Is(told, tenure.ErrInvalid) && (forgotten || ended):
		t.Errorf("%s: told %v; forgotten %v, ended %v", key, told, forgotten, ended)
	}
}

var errNotApplied = &tenure.UnavailableError{Reason: "the node that led does not lead any more"}

// A large release that also forgets is not cut between a forget and its release,
// wherever the bounds of a request fall: the leader may be lost there.
func TestRequestsDoNotCutAForgetFromItsRelease(t *testing.T) {
	large := tenure.ReleaseRequest{Owner: strings.Repeat("o", 41), Forget: true}
	for i := range 6000 {
		large.Endings = append(large.Endings, tenure.Ending{Key: fmt.Sprintf("%0500d", i), Epoch: 1})
	}
	many := tenure.ReleaseRequest{Owner: "o", Forget: true, Endings: []tenure.Ending{{Key: "by request", RequestID: "r"}}}
	for i := range 10000 {
		many.Endings = append(many.Endings, tenure.Ending{Key: fmt.Sprint(i), Epoch: 1})
	}
	for name, req := range map[string]tenure.ReleaseRequest{"bytes": large, "commands": many} {
		b, _ := releaseBatch(req)
		ends := b.parts()
		if len(ends) != 2 || ends[1] != len(b.commands) {
			t.Fatalf("%s: requests end at %v of %d", name, ends, len(b.commands))
		}
		if at := ends[0]; b.commands[at].Kind != fsm.Forget || at > partCommands {
			t.Errorf("%s: the second request begins with command %d, of kind %d", name, at, b.commands[at].Kind)
		}
		// A node that passes a request on cuts it no further.
		if again := (batch{commands: b.commands[:ends[0]]}).parts(); len(again) != 1 {
			t.Errorf("%s: the first request is cut at %v", name, again)
		}
	}

	// The first request is applied, or refused; for the other it is the other
	// way round.
	for _, first := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			requests := 0
			w := newTenancy(func(n int) (int, error) {
				requests++
				if requests > 2 || (requests == 1) != first {
					return 0, errNotApplied
				}
				return n, errNotApplied
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			for i, r := range w.verbs().Release(ctx, large) {
				w.check(t, large.Endings[i].Key, r.Err)
			}
		})
	}
}

// Whatever becomes of requests, what is told of a release that also forgets is
// true: as done only if both were, as not applied only if neither was. That
// holds as well with a node of an older version, which may cut between the two.
func TestReleasesThatForgetAreToldAsTheyAre(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			older := seed%2 == 1
			w := newTenancy(func(n int) (int, error) {
				applied := random.IntN(n + 1)
				if !older {
					applied -= applied % 2
				}
				return applied, []error{nil, errNotApplied, &tenure.UnavailableError{MaybeApplied: true, Reason: "no answer"}}[random.IntN(3)]
			})
			req := tenure.ReleaseRequest{Owner: "o", Forget: true}
			for i := range 1 + random.IntN(4) {
				req.Endings = append(req.Endings, tenure.Ending{Key: fmt.Sprint("k", i), Epoch: 1})
			}
			if random.IntN(4) == 0 {
				w.ended["k0"] = true
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(500))*time.Millisecond)
			defer cancel()
			for i, r := range w.verbs().Release(ctx, req) {
				w.check(t, req.Endings[i].Key, r.Err)
			}
			if t.Failed() {
				t.Logf("seed %d", seed)
			}
		})
	}
}

// One answer is made of two. What both commands are told is the same, and a
// definite refusal of one is the answer of the other only if that was not
// applied either.
func TestTwoAnswersToOneRelease(t *testing.T) {
	lost := &tenure.LostError{Key: "k", Owner: "o", Epoch: 1}
	maybe := &tenure.UnavailableError{Key: "k", MaybeApplied: true, Reason: "no answer", Err: context.Canceled}
	not := &tenure.UnavailableError{Key: "k", Reason: "no leader is known"}
	for _, test := range []struct{ forget, release, want error }{
		{nil, nil, nil},
		{lost, lost, lost},
		{not, not, not},
		{not, lost, lost},
		{lost, not, lost},
		{maybe, not, maybe},
		{not, maybe, maybe},
		{nil, maybe, maybe},
		{maybe, nil, maybe},
		{maybe, lost, maybe},
		{nil, not, tenure.ErrUnavailable},
		{not, nil, tenure.ErrUnavailable},
		{nil, lost, tenure.ErrUnavailable},
	} {
		forget, release := tenure.Result{Err: test.forget}, tenure.Result{Err: test.release}
		agree("k", &forget, &release)
		if forget.Err != release.Err {
			t.Errorf("%v and %v: told %v and %v", test.forget, test.release, forget.Err, release.Err)
		}
		if got := release.Err; got != test.want && (test.want != tenure.ErrUnavailable || outcomeOf(got) != unknown) {
			t.Errorf("%v and %v: told %v, want %v", test.forget, test.release, got, test.want)
		}
	}
}

// A release that also forgets is invalid as a whole: nothing of it is sent.
func TestInvalidReleaseForgetsNothing(t *testing.T) {
	w := newTenancy(func(n int) (int, error) { return n, errNotApplied })
	results := w.verbs().Release(t.Context(), tenure.ReleaseRequest{Owner: "o", Forget: true, Endings: []tenure.Ending{
		{Key: "both", Epoch: 1, RequestID: "r"}, {Key: "good", Epoch: 1}}})
	var invalid *tenure.InvalidError
	if err := results[0].Err; !errors.As(err, &invalid) || invalid.Field != "request_id" || invalid.Key != "both" {
		t.Errorf("told %v, want an invalid request id", err)
	}
	if results[1].Err != nil || !w.ended["good"] || !w.forgotten["good"] {
		t.Errorf("its neighbour is told %v", results[1].Err)
	}
	w.check(t, "both", results[0].Err)
	if w.asked != 1 {
		t.Errorf("%d requests were made, want 1", w.asked)
	}
}
