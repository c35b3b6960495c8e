package node

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/fsm"
)

// A scriptedWay answers each attempt with the next error.
type scriptedWay struct{ errs []error }

func (w *scriptedWay) lease(_ context.Context, b batch) []tenure.Result {
	err := w.errs[0]
	w.errs = w.errs[1:]
	results := make([]tenure.Result, len(b.commands))
	for i := range results {
		results[i] = tenure.Result{Grant: tenure.Grant{Record: tenure.Record{Key: b.commands[i].Key}}, Err: err}
	}
	return results
}

// What a caller is told after several attempts, by what each of them said.
func TestOutcomeOfSeveralAttempts(t *testing.T) {
	held := &tenure.HeldError{Record: tenure.Record{Key: "k", Owner: "b", Epoch: 2, Held: true}}
	lost := &tenure.LostError{Key: "k", Owner: "a", Epoch: 1}
	definite := &tenure.UnavailableError{Reason: "no leader is known"}
	unknown := &tenure.UnavailableError{MaybeApplied: true, Reason: "no answer"}
	acquire := fsm.Command{Kind: fsm.Acquire, Key: "k", Owner: "a", RequestID: "1", TTL: time.Second}
	renew := fsm.Command{Kind: fsm.Renew, Key: "k", Owner: "a", Epoch: 1, TTL: time.Second}
	release := fsm.Command{Kind: fsm.Release, Key: "k", Owner: "a", Epoch: 1}
	forget := fsm.Command{Kind: fsm.Forget, Key: "k", Owner: "a", Epoch: 1}
	tests := []struct {
		name    string
		command fsm.Command
		errs    []error
		want    error // nil is a grant
		maybe   bool
	}{
		{"granted at last", acquire, []error{definite, unknown, definite, nil}, nil, false},
		{"held", acquire, []error{definite, held}, tenure.ErrHeld, false},
		{"held after an unknown outcome is no 'held'", acquire, []error{unknown, held}, tenure.ErrUnavailable, true},
		{"lost after an unknown outcome", renew, []error{unknown, definite, lost}, tenure.ErrLost, false},
		{"lost after an unknown outcome is no answer to a forget", forget, []error{unknown, definite, lost}, tenure.ErrUnavailable, true},
		{"a forget that is lost", forget, []error{definite, lost}, tenure.ErrLost, false},
		{"forgotten at last", forget, []error{unknown, nil}, nil, false},
		{"a release is not sent again", release, []error{definite, unknown}, tenure.ErrUnavailable, true},
		{"a release that was surely not applied is", release, []error{definite, definite, nil}, nil, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			way := &scriptedWay{errs: test.errs}
			r := &router{
				way:     func(context.Context) (leaser, error) { return way, nil },
				clock:   tenure.MonotonicClock(),
				largest: func() time.Duration { return time.Hour },
			}
			got := r.route(context.Background(), batch{commands: []fsm.Command{test.command}})[0].Err
			if (test.want == nil) != (got == nil) || test.want != nil && !errors.Is(got, test.want) {
				t.Fatalf("got %v, want %v", got, test.want)
			}
			for _, other := range []error{tenure.ErrHeld, tenure.ErrLost, tenure.ErrUnavailable} {
				if other != test.want && errors.Is(got, other) {
					t.Errorf("%v is also %v", got, other)
				}
			}
			var u *tenure.UnavailableError
			if errors.As(got, &u) && u.MaybeApplied != test.maybe {
				t.Errorf("%v: maybe applied is %v, want %v", got, u.MaybeApplied, test.maybe)
			}
			if len(way.errs) > 0 {
				t.Errorf("%d attempts were not made", len(way.errs))
			}
		})
	}
}

// A forget that goes with a release is not sent again without it: a tenure that
// was to be given up and forgotten must not end up as one that is forgotten and
// held.
func TestForgetIsNotRepeatedWithoutItsRelease(t *testing.T) {
	unknown := &tenure.UnavailableError{MaybeApplied: true, Reason: "no answer"}
	way := &scriptedWay{errs: []error{unknown, nil}}
	r := &router{
		way:     func(context.Context) (leaser, error) { return way, nil },
		clock:   tenure.MonotonicClock(),
		largest: func() time.Duration { return time.Hour },
	}
	b, _ := releaseBatch(tenure.ReleaseRequest{Owner: "a", Endings: []tenure.Ending{{Key: "k", Epoch: 1}}, Forget: true})
	for i, result := range r.route(context.Background(), b) {
		var u *tenure.UnavailableError
		if !errors.As(result.Err, &u) || !u.MaybeApplied {
			t.Errorf("command %d: got %v, want an unknown outcome", i, result.Err)
		}
	}
	if len(way.errs) != 1 {
		t.Errorf("%d attempts were left to make, want 1", len(way.errs))
	}
}
