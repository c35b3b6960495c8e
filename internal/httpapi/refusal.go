package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"example.com/tenure"
)

// Codes of a [Refusal].
const (
	CodeHeld        = "held"
	CodeLost        = "lost"
	CodeUnavailable = "unavailable"
	CodeInvalid     = "invalid"
)

// A Refusal is the answer to a request, or to one item of it, that did not
// succeed. It has the details of the error that it stands for, so that the
// error can be made again from it.
type Refusal struct {
	Code            string  `json:"error"`
	Message         string  `json:"message"`
	Record          *Record `json:"record,omitempty"`        // held: the tenure that has the key; lost: what stands now, if it is known
	RemainingMillis *int64  `json:"remaining_ms,omitempty"`  // held: until that tenure expires
	MaybeApplied    *bool   `json:"maybe_applied,omitempty"` // unavailable: the command may have been applied, or may still be

	Key       string `json:"key,omitempty"` // of the item
	Owner     string `json:"owner,omitempty"`
	Epoch     Epoch  `json:"epoch,omitempty"`      // lost: of the tenure
	RequestID string `json:"request_id,omitempty"` // lost: of the tenure
	Reason    string `json:"reason,omitempty"`     // lost, unavailable: what happened, if it is known
	Field     string `json:"field,omitempty"`      // invalid: what is malformed
	Value     string `json:"value,omitempty"`      // invalid: as given, shortened if long
	Bound     string `json:"bound,omitempty"`      // invalid: what is allowed
}

// RefusalOf returns the refusal that stands for err. An error that is none of
// package tenure's says nothing about the outcome, so it becomes unavailable,
// maybe applied.
func RefusalOf(err error) Refusal {
	var (
		held        *tenure.HeldError
		lost        *tenure.LostError
		invalid     *tenure.InvalidError
		unavailable *tenure.UnavailableError
	)
	switch {
	// Unavailable first: its cause may be one of the others.
	case errors.As(err, &unavailable):
		return ofUnavailable(unavailable)
	case errors.As(err, &held):
		record, remaining := RecordOf(held.Record), ceilMillis(held.Remaining)
		return Refusal{Code: CodeHeld, Message: held.Error(), Record: &record, RemainingMillis: &remaining}
	case errors.As(err, &lost):
		return ofLost(lost)
	case errors.As(err, &invalid):
		return Refusal{Code: CodeInvalid, Message: invalid.Error(), Key: invalid.Key, Field: invalid.Field, Value: invalid.Value, Bound: invalid.Bound}
	}
	return ofUnavailable(&tenure.UnavailableError{MaybeApplied: true, Reason: err.Error()})
}

func ofUnavailable(e *tenure.UnavailableError) Refusal {
	maybe, reason := e.MaybeApplied, e.Reason
	if e.Err != nil {
		reason += ": " + e.Err.Error()
	}
	return Refusal{Code: CodeUnavailable, Message: e.Error(), MaybeApplied: &maybe, Key: e.Key, Reason: reason}
}

func ofLost(e *tenure.LostError) Refusal {
	r := Refusal{Code: CodeLost, Message: e.Error(), Key: e.Key, Owner: e.Owner, Epoch: Epoch(e.Epoch), RequestID: e.RequestID, Reason: e.Reason}
	if e.Record.Key != "" {
		record := RecordOf(e.Record)
		r.Record = &record
	}
	return r
}

// Err returns the error that the refusal stands for, one of package tenure's. A
// code that is unknown says nothing about the outcome, so it becomes
// unavailable, maybe applied.
func (r Refusal) Err() error {
	var record tenure.Record
	if r.Record != nil {
		record = r.Record.Record()
	}
	switch r.Code {
	case CodeHeld:
		var remaining int64
		if r.RemainingMillis != nil {
			remaining = *r.RemainingMillis
		}
		return &tenure.HeldError{Record: record, Remaining: time.Duration(remaining) * time.Millisecond}
	case CodeLost:
		return &tenure.LostError{Key: r.Key, Owner: r.Owner, Epoch: uint64(r.Epoch), RequestID: r.RequestID, Record: record, Reason: r.Reason}
	case CodeInvalid:
		return &tenure.InvalidError{Key: r.Key, Field: r.Field, Value: r.Value, Bound: r.Bound}
	}
	reason := r.Reason
	if reason == "" {
		reason = r.Message
	}
	return &tenure.UnavailableError{Key: r.Key, MaybeApplied: r.MaybeApplied == nil || *r.MaybeApplied, Reason: reason}
}

// status returns the HTTP status of the refusal as a whole answer.
func (r Refusal) status() int {
	switch r.Code {
	case CodeHeld:
		return http.StatusConflict
	case CodeLost:
		return http.StatusGone
	case CodeInvalid:
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}

// interrupted returns what a caller knows of a request whose answer never came.
func interrupted(ctx context.Context, key string, maybe bool, reason string, err error) error {
	if cause := ctx.Err(); cause != nil {
		err = cause
	}
	return &tenure.UnavailableError{Key: key, MaybeApplied: maybe, Reason: reason, Err: err}
}

// ceilMillis rounds up, so that whoever waits for as long finds it over.
func ceilMillis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
