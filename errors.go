package tenure

import (
	"errors"
	"fmt"
	"time"
)

// The meanings that an error of this module can have, for [errors.Is]. Each
// has a struct with the details, for [errors.As].
var (
	// ErrHeld: another tenure has the key. Definite: nothing was acquired. See
	// [HeldError].
	ErrHeld = errors.New("held")
	// ErrLost: the tenure is over. Definite and final. See [LostError].
	ErrLost = errors.New("lost")
	// ErrUnavailable: no answer. The command may have been applied or not; see
	// [UnavailableError].
	ErrUnavailable = errors.New("unavailable")
	// ErrFenced: the local gate is closed. See [FencedError].
	ErrFenced = errors.New("fenced")
	// ErrInvalid: a malformed value; nothing was sent. See [InvalidError].
	ErrInvalid = errors.New("invalid")
)

// A HeldError says that the key can't be had: another tenure has it, or others
// are first in line for it, or, after a restore from a backup, a tenure that the
// backup doesn't know may still stand.
type HeldError struct {
	Record Record // the key and the tenure that has it; not Held in the other cases
	// Remaining is how long until the key can be granted to somebody, in the
	// leader's judgement, if nobody renews.
	Remaining time.Duration
}

// Error names the key, its epoch and owner.
func (e *HeldError) Error() string {
	switch {
	case !e.Record.Held && e.Remaining > 0:
		return fmt.Sprintf("%s: held for another %v, in which a tenure from before a restore may still stand: wait or try again then",
			quoteKey(e.Record.Key), e.Remaining.Round(time.Millisecond))
	case !e.Record.Held:
		return fmt.Sprintf("%s: held back for those who wait in line for it: wait, too, or try again", quoteKey(e.Record.Key))
	}
	return fmt.Sprintf("%s: held by %s at epoch %d, which expires in %v unless it is renewed: wait or try again",
		quoteKey(e.Record.Key), e.Record.Owner, e.Record.Epoch, e.Remaining.Round(time.Millisecond))
}

// Is reports whether target is [ErrHeld].
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// A LostError says that a tenure is over.
type LostError struct {
	Key       string
	Owner     string // whose tenure it was
	Epoch     uint64 // the tenure's, 0 if only its request id is known
	RequestID string // the tenure's, "" if its epoch is known
	Record    Record // what stands now, as far as the answer told
	Reason    string // what ended it, if it is known
}

// Error names the key, its epoch and owner, and what has the key now.
func (e *LostError) Error() string {
	what := fmt.Sprintf("epoch %d", e.Epoch)
	if e.Epoch == 0 {
		what = fmt.Sprintf("request %q", e.RequestID)
	}
	why := e.Reason
	if why == "" {
		why = e.now()
	}
	return fmt.Sprintf("%s: the tenure of %s (%s) is over: %s: acquire the key again", quoteKey(e.Key), e.Owner, what, why)
}

func (e *LostError) now() string {
	switch {
	case e.Record.Key == "":
		return "the store no longer knows it"
	case e.Record.Held:
		return fmt.Sprintf("held by %s at epoch %d", e.Record.Owner, e.Record.Epoch)
	default:
		return fmt.Sprintf("free, last at epoch %d", e.Record.Epoch)
	}
}

// Is reports whether target is [ErrLost].
func (e *LostError) Is(target error) bool { return target == ErrLost }

// An UnavailableError says that no answer came.
type UnavailableError struct {
	Key string // "" if the call was not about one key
	// MaybeApplied says that the command may have been applied, or may still
	// be. False is definite: it was not and will not be.
	MaybeApplied bool
	Reason       string // what happened
	Err          error  // the cause, or nil
}

// Error says what happened and what the caller knows.
func (e *UnavailableError) Error() string {
	outcome := "not applied"
	if e.MaybeApplied {
		outcome = "may have been applied"
	}
	msg := fmt.Sprintf("unavailable (%s): %s", outcome, e.Reason)
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	if e.Key != "" {
		msg = quoteKey(e.Key) + ": " + msg
	}
	return msg
}

// Is reports whether target is [ErrUnavailable].
func (e *UnavailableError) Is(target error) bool { return target == ErrUnavailable }

// Unwrap returns the cause, so that a call which its context ended matches
// context.DeadlineExceeded or context.Canceled.
func (e *UnavailableError) Unwrap() error { return e.Err }

// A FenceReason says why a gate is closed.
type FenceReason string

// The reasons for which a gate is closed.
const (
	LeaseReleased       FenceReason = "lease_released"        // the holder released or forgot it, or was closed
	LeaseLost           FenceReason = "lease_lost"            // the store said that the tenure is over
	LeaseExpiredLocally FenceReason = "lease_expired_locally" // the fence has passed; a later renewal may resume the tenure
)

// A FencedError says that the local gate of a lease is closed. Nothing was
// sent.
type FencedError struct {
	Key    string
	Owner  string
	Epoch  uint64
	Reason FenceReason
	Err    error // the cause, or nil
}

// Error names the key, epoch, owner and reason, and says what to do.
func (e *FencedError) Error() string {
	advice := "acquire the key again"
	if e.Reason == LeaseExpiredLocally {
		advice = "do not acknowledge; retry when a renewal has resumed the lease"
	}
	msg := fmt.Sprintf("%s: fenced (%s) at epoch %d of %s: %s", quoteKey(e.Key), e.Reason, e.Epoch, e.Owner, advice)
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg
}

// Is reports whether target is [ErrFenced].
func (e *FencedError) Is(target error) bool { return target == ErrFenced }

// Unwrap returns the cause.
func (e *FencedError) Unwrap() error { return e.Err }

// An InvalidError says which value is malformed. Nothing was sent or changed.
type InvalidError struct {
	Key   string // of the item, "" if the call was not about one key or the key is what is malformed
	Field string // as in the HTTP API: key, owner, request_id, ttl, margin, epoch, wait, ...
	Value string // as given, shortened if long
	Bound string // what is allowed
}

// Error names the field, the value and the bound.
func (e *InvalidError) Error() string {
	msg := fmt.Sprintf("invalid %s %s: must be %s", e.Field, e.Value, e.Bound)
	if e.Key != "" {
		msg = quoteKey(e.Key) + ": " + msg
	}
	return msg
}

// Is reports whether target is [ErrInvalid].
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

// quoteKey returns the key as a message starts with it. Keys hold no control
// characters, so they need no escapes.
func quoteKey(key string) string {
	if len(key) > 80 {
		return key[:80] + "..."
	}
	return key
}
