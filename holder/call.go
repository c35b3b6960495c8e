package holder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/tenure"
)

// most is how many items a holder puts in one request. The store splits what
// is too large for it.
const most = 4096

// errTimeout ends an attempt. The caller's context goes on.
var errTimeout = errors.New("the attempt took too long")

// attempt returns a context for one call to the store. It ends after d on the
// holder's clock.
func (h *Holder) attempt(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := h.clock.AfterFunc(d, func() { cancel(errTimeout) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// sleep waits for d and reports whether it passed before ctx ended.
func (h *Holder) sleep(ctx context.Context, d time.Duration) bool {
	woken := make(chan struct{})
	timer := h.clock.AfterFunc(d, func() { close(woken) })
	defer timer.Stop()
	select {
	case <-woken:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// answered reports whether err, from a result, is an answer. Whatever is not
// known to be one isn't.
func answered(err error) bool {
	return err == nil || errors.Is(err, tenure.ErrLost) || errors.Is(err, tenure.ErrHeld) || errors.Is(err, tenure.ErrInvalid)
}

// resultAt returns the nth result. One that the store left out is no answer.
func resultAt(results []tenure.Result, n int) tenure.Result {
	if n < len(results) {
		return results[n]
	}
	return tenure.Result{Err: &tenure.UnavailableError{MaybeApplied: true, Reason: "the store left out the result"}}
}

// A trail remembers the attempts of one command that were not answered.
type trail struct {
	attempts int
	unknown  bool // one of them may have been applied
	last     error
}

func (t *trail) add(err error) {
	t.attempts++
	t.last = err
	var u *tenure.UnavailableError
	if !errors.As(err, &u) || u.MaybeApplied {
		t.unknown = true
	}
}

// end returns the error of a command that is given up, because ctx has ended
// or, if it hasn't, for the given reason.
func (t *trail) end(ctx context.Context, key, reason string) *tenure.UnavailableError {
	err := &tenure.UnavailableError{Key: key, MaybeApplied: t.unknown, Reason: reason}
	switch cause := context.Cause(ctx); {
	case cause == nil:
	case errors.Is(cause, ctx.Err()) || errors.Is(cause, ErrClosed):
		err.Reason, err.Err = "given up", cause
	default:
		err.Reason, err.Err = "given up", fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	if t.last != nil {
		err.Reason += fmt.Sprintf(" after %d attempts, the last error: %s", t.attempts, reasonOf(t.last))
	}
	return err
}

// reasonOf returns an error's message without the key that it starts with.
func reasonOf(err error) string {
	var u *tenure.UnavailableError
	if !errors.As(err, &u) {
		return err.Error()
	}
	if u.Err == nil {
		return u.Reason
	}
	return u.Reason + ": " + u.Err.Error()
}

// insist calls try, with a context for each attempt, until it gets an answer,
// which it returns. It gives up when ctx ends, or when the clock has reached
// until after an attempt. unknown says that an attempt before the answer may
// have been applied.
func (h *Holder) insist(ctx context.Context, key string, until time.Duration, try func(ctx context.Context) error) (unknown bool, err error) {
	var t trail
	for n := 0; ; n++ {
		if ctx.Err() != nil {
			return t.unknown, t.end(ctx, key, "")
		}
		call, cancel := h.attempt(ctx, h.cadence.callTimeout(n))
		err := try(call)
		cancel()
		if answered(err) {
			return t.unknown, err
		}
		t.add(err)
		wait := h.cadence.backoff(n + 1)
		if h.clock.Now()+wait >= until {
			return t.unknown, t.end(ctx, key, "given up")
		}
		if !h.sleep(ctx, wait) {
			return t.unknown, t.end(ctx, key, "")
		}
	}
}
