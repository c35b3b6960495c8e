package wire

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"example.com/tenure"
)

// A refusal of a whole request arrives with all its fields, whatever the
// operation; errors of other kinds arrive as their text and say nothing about
// the outcome.
func TestFailures(t *testing.T) {
	errs := []error{
		&NotLeader{LeaderID: "n2", LeaderAddr: "n2:7400"},
		&NotLeader{},
		&tenure.UnavailableError{Reason: "the queue is full"},
		&tenure.UnavailableError{Key: "k", MaybeApplied: true, Reason: "gave up", Err: context.Canceled},
		&tenure.InvalidError{Field: "key", Value: `""`, Bound: "1 to 512 bytes"},
		&tenure.HeldError{Record: tenure.Record{Key: "k", Owner: "o", Epoch: 1, ForgottenAtEpoch: 1, Held: true}},
		&tenure.LostError{Key: "k", Owner: "o", RequestID: "q", Reason: "released"},
	}
	for _, want := range errs {
		p := AppendFailure(nil, fmt.Errorf("around it: %w", want))
		if got := DecodeAnswer(p, &Empty{}); !reflect.DeepEqual(got, want) {
			t.Errorf("got %#v, want %#v", got, want)
		}
		if _, got := DecodeLeaseAnswer(p, commands); !reflect.DeepEqual(got, want) {
			t.Errorf("lease: got %#v, want %#v", got, want)
		}
	}
	var unavailable *tenure.UnavailableError
	err := DecodeAnswer(AppendFailure(nil, errors.New("disk on fire")), &Empty{})
	if !errors.As(err, &unavailable) || !unavailable.MaybeApplied || unavailable.Reason != "disk on fire" {
		t.Errorf("got %#v", err)
	}
}

// What a cause is to errors.Is survives, and so does its text.
func TestCauses(t *testing.T) {
	for _, is := range []error{context.DeadlineExceeded, context.Canceled} {
		sent := &tenure.UnavailableError{Reason: "x", Err: fmt.Errorf("calling n2: %w", is)}
		got := DecodeAnswer(AppendFailure(nil, sent), &Empty{})
		if !errors.Is(got, is) || got.Error() != sent.Error() {
			t.Errorf("got %v, want %v", got, sent)
		}
	}
	got := DecodeAnswer(AppendFailure(nil, &tenure.UnavailableError{Reason: "x", Err: errors.New("y")}), &Empty{})
	if errors.Is(got, context.DeadlineExceeded) || errors.Is(got, context.Canceled) || !strings.Contains(got.Error(), "y") {
		t.Errorf("got %v", got)
	}
}

// An outcome that is unknown because of a refusal does not arrive as that
// refusal, neither for a whole request nor for one command.
func TestUnknownOutcomeIsNotItsCause(t *testing.T) {
	for _, cause := range []error{
		&tenure.HeldError{Record: tenure.Record{Key: "k", Owner: "o", Epoch: 1, Held: true}},
		&tenure.LostError{Key: "k", Owner: "o", Epoch: 1},
		&tenure.InvalidError{Key: "k", Field: "key"},
	} {
		sent := &tenure.UnavailableError{Key: "k", MaybeApplied: true, Reason: "an earlier attempt", Err: cause}
		_, whole := DecodeLeaseAnswer(AppendFailure(nil, sent), commands)
		results, err := DecodeLeaseAnswer(AppendLeaseAnswer(nil, commands[:1], []tenure.Result{{Err: sent}}), commands[:1])
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []error{whole, results[0].Err} {
			var unavailable *tenure.UnavailableError
			if !errors.As(got, &unavailable) || !unavailable.MaybeApplied || got.Error() != sent.Error() {
				t.Errorf("got %#v, want %v", got, sent)
			}
			for _, other := range []error{tenure.ErrHeld, tenure.ErrLost, tenure.ErrInvalid} {
				if errors.Is(got, other) {
					t.Errorf("%v arrived as %v", sent, other)
				}
			}
		}
	}
}
