package holder

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure"
)

// A scriptedStore answers acquires with the next of its errors, and loses all
// that is released.
type scriptedStore struct{ errs []error }

func (s *scriptedStore) Acquire(context.Context, tenure.AcquireRequest) []tenure.Result {
	err := s.errs[0]
	s.errs = s.errs[1:]
	return []tenure.Result{{Err: err}}
}

func (s *scriptedStore) Renew(context.Context, tenure.RenewRequest) []tenure.Result { return nil }

func (s *scriptedStore) Release(_ context.Context, r tenure.ReleaseRequest) []tenure.Result {
	return []tenure.Result{{Err: &tenure.LostError{Key: r.Endings[0].Key, Owner: r.Owner}}}
}

func (s *scriptedStore) Forget(context.Context, tenure.ForgetRequest) []tenure.Result { return nil }

// After an attempt of unknown outcome a 'held' is not definite: the first
// attempt may still be granted.
func TestHeldAfterAnUnknownAttemptIsNotDefinite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := New(Config{Replica: "r", TTL: time.Second, Clock: tenure.MonotonicClock(), Store: &scriptedStore{errs: []error{
			&tenure.UnavailableError{Key: "k", MaybeApplied: true, Reason: "the leader is gone"},
			&tenure.HeldError{Record: tenure.Record{Key: "k", Owner: "x", Epoch: 1, Held: true}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close(context.Background())
		_, err = h.Acquire(context.Background(), "k")
		var u *tenure.UnavailableError
		if !errors.As(err, &u) || !u.MaybeApplied || errors.Is(err, tenure.ErrHeld) {
			t.Errorf("got %v, want unavailable, maybe applied, and not held", err)
		}
	})
}
