package wire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/tenure"
)

// NotLeader says that the node that was asked does not lead. It is definite:
// nothing was proposed.
type NotLeader struct {
	LeaderID   string // as far as the node knows, else ""
	LeaderAddr string
}

// Error names the leader, if it is known.
func (e *NotLeader) Error() string {
	if e.LeaderID == "" {
		return "not the leader, and no leader is known: try again"
	}
	return fmt.Sprintf("not the leader: ask %s at %s", e.LeaderID, e.LeaderAddr)
}

// A failure is an error as it crosses the wire: which struct it is, and all of
// its fields.
type failure struct {
	kind      failureKind
	key       string
	owner     string
	epoch     uint64
	requestID string
	record    tenure.Record
	remaining time.Duration
	maybe     bool
	reason    string
	cause     cause
	causeText string
	field     string
	value     string
	bound     string
	leaderID  string
	leader    string // its address
}

type failureKind byte

const (
	failedHeld failureKind = iota + 1
	failedLost
	failedUnavailable
	failedInvalid
	failedNotLeader
)

// A cause is what an UnavailableError wraps, as far as a program can ask.
type cause byte

const (
	causeNone cause = iota
	causeDeadline
	causeCancelled
	causeOther
)

// failureOf returns what is sent of an error. One of no known kind says nothing
// about the outcome.
func failureOf(err error) failure {
	var held *tenure.HeldError
	var lost *tenure.LostError
	var unavailable *tenure.UnavailableError
	var invalid *tenure.InvalidError
	var notLeader *NotLeader
	switch {
	// Unavailable first: its cause may be one of the others.
	case errors.As(err, &unavailable):
		f := failure{kind: failedUnavailable, key: unavailable.Key, maybe: unavailable.MaybeApplied, reason: unavailable.Reason}
		f.cause, f.causeText = causeOf(unavailable.Err)
		return f
	case errors.As(err, &held):
		return failure{kind: failedHeld, record: held.Record, remaining: held.Remaining}
	case errors.As(err, &lost):
		return failure{kind: failedLost, key: lost.Key, owner: lost.Owner, epoch: lost.Epoch,
			requestID: lost.RequestID, record: lost.Record, reason: lost.Reason}
	case errors.As(err, &invalid):
		return failure{kind: failedInvalid, key: invalid.Key, field: invalid.Field, value: invalid.Value, bound: invalid.Bound}
	case errors.As(err, &notLeader):
		return failure{kind: failedNotLeader, leaderID: notLeader.LeaderID, leader: notLeader.LeaderAddr}
	}
	return failure{kind: failedUnavailable, maybe: true, reason: err.Error()}
}

// err is the inverse of failureOf.
func (f *failure) err() error {
	switch f.kind {
	case failedHeld:
		return &tenure.HeldError{Record: f.record, Remaining: f.remaining}
	case failedLost:
		return &tenure.LostError{Key: f.key, Owner: f.owner, Epoch: f.epoch, RequestID: f.requestID, Record: f.record, Reason: f.reason}
	case failedUnavailable:
		return &tenure.UnavailableError{Key: f.key, MaybeApplied: f.maybe, Reason: f.reason, Err: f.cause.err(f.causeText)}
	case failedInvalid:
		return &tenure.InvalidError{Key: f.key, Field: f.field, Value: f.value, Bound: f.bound}
	default: // decodeFailure lets no other through
		return &NotLeader{LeaderID: f.leaderID, LeaderAddr: f.leader}
	}
}

func causeOf(err error) (cause, string) {
	switch {
	case err == nil:
		return causeNone, ""
	case errors.Is(err, context.DeadlineExceeded):
		return causeDeadline, err.Error()
	case errors.Is(err, context.Canceled):
		return causeCancelled, err.Error()
	}
	return causeOther, err.Error()
}

func (c cause) err(text string) error {
	var is error
	switch c {
	case causeNone:
		return nil
	case causeDeadline:
		is = context.DeadlineExceeded
	case causeCancelled:
		is = context.Canceled
	}
	if is != nil && text == is.Error() {
		return is
	}
	return &remoteCause{text: text, is: is}
}

// A remoteCause is an error of the other end: its text, and what it is to
// errors.Is.
type remoteCause struct {
	text string
	is   error
}

func (e *remoteCause) Error() string { return e.text }
func (e *remoteCause) Unwrap() error { return e.is }
