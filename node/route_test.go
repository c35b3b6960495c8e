package node

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
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
	invalid := &tenure.InvalidError{Key: "k", Field: "command", Value: "(no more records)", Bound: "one that the log can take"}
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
		{"invalid", acquire, []error{definite, invalid}, tenure.ErrInvalid, false},
		{"invalid after an unknown outcome", acquire, []error{unknown, invalid}, tenure.ErrUnavailable, true},
		{"a renewal that is invalid after an unknown outcome", renew, []error{unknown, invalid}, tenure.ErrUnavailable, true},
		{"a forget that is invalid after an unknown outcome", forget, []error{unknown, invalid}, tenure.ErrUnavailable, true},
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
			for _, other := range []error{tenure.ErrHeld, tenure.ErrLost, tenure.ErrInvalid, tenure.ErrUnavailable} {
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

// A stateWay is a leader's state. What an attempt is told gets lost as often as
// lose says, and what meanwhile happens comes after it.
type stateWay struct {
	t         *testing.T
	state     *fsm.State
	apply     bool // whether the attempts whose answer gets lost are applied
	meanwhile []fsm.Command
	lose      int
}

func (w *stateWay) do(commands []fsm.Command) []fsm.Result {
	w.t.Helper()
	commands = append([]fsm.Command(nil), commands...)
	w.state.Translate(commands)
	entry, err := fsm.AppendEntry(nil, commands)
	if err != nil {
		w.t.Fatal(err)
	}
	results, err := w.state.Apply(w.state.Index()+1, entry, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return results
}

func (w *stateWay) lease(_ context.Context, b batch) []tenure.Result {
	c := &b.commands[0]
	if w.lose > 0 {
		if w.lose--; w.apply {
			w.do(b.commands)
		}
		if w.lose == 0 {
			for _, c := range w.meanwhile {
				if r := w.do([]fsm.Command{c})[0]; r.Code == fsm.Lost || r.Code == fsm.Held || r.Code == fsm.Invalid {
					w.t.Fatalf("%+v: %+v", c, r)
				}
			}
		}
		return []tenure.Result{{Err: &tenure.UnavailableError{Key: c.Key, MaybeApplied: true, Reason: "no answer"}}}
	}
	r := w.do(b.commands)[0]
	if r.Code != fsm.Lost {
		return []tenure.Result{{Grant: tenure.Grant{Record: r.Record}}}
	}
	return []tenure.Result{{Err: &tenure.LostError{Key: c.Key, Owner: c.Owner, Epoch: c.Epoch, Record: r.Record}}}
}

// Whether a forget that is lost after an attempt of unknown outcome was applied
// is known from the record, however the tenure ended and whatever followed.
func TestForgetLostAfterAnUnknownOutcome(t *testing.T) {
	acquire := func(key, owner string) fsm.Command {
		return fsm.Command{Kind: fsm.Acquire, Key: key, Owner: owner, RequestID: owner, TTL: time.Second}
	}
	named := func(kind fsm.Kind, key, owner string, epoch uint64) fsm.Command {
		return fsm.Command{Kind: kind, Key: key, Owner: owner, Epoch: epoch}
	}
	released := named(fsm.Release, "k", "a", 1)
	thawed := fsm.Command{Kind: fsm.Cluster, Settings: fsm.Settings{ResumeFloor: true}}
	for _, test := range []struct {
		name      string
		apply     bool
		meanwhile []fsm.Command
		want      error
		says      string // of the forgotten epoch
	}{
		{"not applied, released", false, []fsm.Command{released}, tenure.ErrLost, ""},
		{"not applied, another tenure", false, []fsm.Command{released, acquire("k", "b")}, tenure.ErrLost, ""},
		{"not applied, taken over", false, []fsm.Command{{Kind: fsm.Acquire, Key: "k", Owner: "b", RequestID: "b", TTL: time.Second,
			Evidence: fsm.Evidence{Epoch: 1, GrantIndex: 2}}}, tenure.ErrLost, ""},
		{"not applied, another key dropped", false, []fsm.Command{released, acquire("other", "b"), named(fsm.Forget, "other", "b", 1), named(fsm.Release, "other", "b", 1)},
			tenure.ErrLost, ""},
		{"not applied, a later tenure forgotten", false, []fsm.Command{released, acquire("k", "b"), named(fsm.Forget, "k", "b", 2)}, tenure.ErrUnavailable, "epoch 2"},
		{"applied, dropped", true, []fsm.Command{released}, tenure.ErrUnavailable, "epoch 1"},
		{"applied, dropped, another tenure", true, []fsm.Command{released, acquire("k", "b")}, tenure.ErrUnavailable, "epoch 1"},
		{"applied, taken over", true, []fsm.Command{{Kind: fsm.Acquire, Key: "k", Owner: "b", RequestID: "b", TTL: time.Second,
			Evidence: fsm.Evidence{Epoch: 1, GrantIndex: 2}}}, tenure.ErrUnavailable, "epoch 1"},
		{"applied, dropped, another tenure dropped", true, []fsm.Command{released, acquire("k", "b"), named(fsm.Forget, "k", "b", 2), named(fsm.Release, "k", "b", 2)},
			tenure.ErrUnavailable, "epoch 2"},
		{"applied, dropped, the floor raised by others", true, []fsm.Command{released, acquire("other", "b"), named(fsm.Forget, "other", "b", 2), named(fsm.Release, "other", "b", 2), thawed},
			tenure.ErrUnavailable, "epoch 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &stateWay{t: t, state: fsm.New(), apply: test.apply, meanwhile: test.meanwhile, lose: 2}
				w.do([]fsm.Command{{Kind: fsm.Cluster, Settings: fsm.Settings{ClusterID: "c", LargestTTL: time.Hour}}})
				w.do([]fsm.Command{acquire("k", "a")})
				v := verbs{router{
					way:     func(context.Context) (leaser, error) { return w, nil },
					clock:   tenure.MonotonicClock(),
					largest: func() time.Duration { return time.Hour },
				}}
				got := v.Forget(t.Context(), tenure.ForgetRequest{Owner: "a", Tenures: []tenure.Tenure{{Key: "k", Epoch: 1}}})[0].Err
				var u *tenure.UnavailableError
				if !errors.Is(got, test.want) || errors.As(got, &u) && !u.MaybeApplied {
					t.Errorf("told %v, want %v", got, test.want)
				}
				if says := strings.Contains(got.Error(), "forgotten up to "+test.says); test.says != "" && !says {
					t.Errorf("%v does not say that it is forgotten up to %s", got, test.says)
				}
				if now := w.state.Lookup("k").Record.ForgottenAtEpoch; (test.want == tenure.ErrLost) != (now == 0) {
					t.Errorf("told %v; the key is forgotten up to epoch %d", got, now)
				}
			})
		})
	}
}

// A lost forget whose answer brings no record of its key says nothing of the
// attempts before it.
func TestForgetLostWithoutARecord(t *testing.T) {
	for _, record := range []tenure.Record{{}, {Epoch: 1}, {Key: "other", Epoch: 1}} {
		lost := &tenure.LostError{Key: "k", Owner: "a", Epoch: 1, Record: record}
		way := &scriptedWay{errs: []error{&tenure.UnavailableError{MaybeApplied: true, Reason: "no answer"}, lost}}
		r := &router{
			way:     func(context.Context) (leaser, error) { return way, nil },
			clock:   tenure.MonotonicClock(),
			largest: func() time.Duration { return time.Hour },
		}
		b := forgetBatch(tenure.ForgetRequest{Owner: "a", Tenures: []tenure.Tenure{{Key: "k", Epoch: 1}}})
		if got := r.route(t.Context(), b)[0].Err; outcomeOf(got) != unknown || errors.Is(got, tenure.ErrLost) {
			t.Errorf("record %+v: told %v", record, got)
		}
	}
}
