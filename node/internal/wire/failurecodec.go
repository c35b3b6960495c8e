package wire

import (
	"fmt"

	"example.com/tenure"
)

// The numbers of a failure's fields.
const (
	failureIs = iota + 1
	failureKey
	failureOwner
	failureEpoch
	failureRequestID
	failureRecord
	failureRemaining
	failureMaybe
	failureReason
	failureCause
	failureCauseText
	failureField
	failureValue
	failureBound
	failureLeaderID
	failureLeader
)

// AppendFailure appends an answer that brings an error instead of a result. A
// [*NotLeader] and the errors of package tenure arrive with all their fields;
// of any other the text does, as an UnavailableError that may have been applied.
func AppendFailure(dst []byte, err error) []byte {
	f := failureOf(err)
	return f.append(append(dst, answerFailure))
}

func (f *failure) append(dst []byte) []byte {
	dst = appendNumber(dst, failureIs, uint64(f.kind))
	dst = appendText(dst, failureKey, shorten(f.key, tenure.MaxKeyBytes))
	dst = appendText(dst, failureOwner, shorten(f.owner, tenure.MaxOwnerBytes))
	dst = appendNumber(dst, failureEpoch, f.epoch)
	dst = appendText(dst, failureRequestID, shorten(f.requestID, tenure.MaxRequestIDBytes))
	if f.record != (tenure.Record{}) {
		dst = appendPart(dst, failureRecord, appendRecord(nil, f.record))
	}
	dst = appendDuration(dst, failureRemaining, f.remaining)
	dst = appendBool(dst, failureMaybe, f.maybe)
	dst = appendText(dst, failureReason, shorten(f.reason, maxReason))
	dst = appendNumber(dst, failureCause, uint64(f.cause))
	dst = appendText(dst, failureCauseText, shorten(f.causeText, maxReason))
	dst = appendText(dst, failureField, shorten(f.field, maxReason))
	dst = appendText(dst, failureValue, shorten(f.value, maxReason))
	dst = appendText(dst, failureBound, shorten(f.bound, maxReason))
	dst = appendText(dst, failureLeaderID, shorten(f.leaderID, maxID))
	return appendText(dst, failureLeader, shorten(f.leader, maxAddr))
}

func decodeFailure(p []byte) (failure, error) {
	var f failure
	c := cursor{rest: p}
	for c.next() {
		f.read(&c)
	}
	if c.err == nil && (f.kind < failedHeld || f.kind > failedNotLeader) {
		c.fail("failure of unknown kind %d", f.kind)
	}
	return f, c.err
}

func (f *failure) read(c *cursor) {
	switch c.number {
	case failureIs:
		f.kind = failureKind(min(c.value, 255))
	case failureKey:
		f.key = c.text(tenure.MaxKeyBytes)
	case failureOwner:
		f.owner = c.text(tenure.MaxOwnerBytes)
	case failureEpoch:
		f.epoch = c.value
	case failureRequestID:
		f.requestID = c.text(tenure.MaxRequestIDBytes)
	case failureRecord:
		f.record = c.record()
	case failureRemaining:
		f.remaining = c.duration()
	case failureMaybe:
		f.maybe = c.flag()
	default:
		f.readTexts(c)
	}
}

func (f *failure) readTexts(c *cursor) {
	switch c.number {
	case failureReason:
		f.reason = c.text(maxReason)
	case failureCause:
		f.cause = cause(min(c.value, uint64(causeOther)))
	case failureCauseText:
		f.causeText = c.text(maxReason)
	case failureField:
		f.field = c.text(maxReason)
	case failureValue:
		f.value = c.text(maxReason)
	case failureBound:
		f.bound = c.text(maxReason)
	case failureLeaderID:
		f.leaderID = c.text(maxID)
	case failureLeader:
		f.leader = c.text(maxAddr)
	}
}

// The numbers of a record's fields.
const (
	recordKey = iota + 1
	recordOwner
	recordEpoch
	recordForgotten
	recordHeld
)

func appendRecord(dst []byte, r tenure.Record) []byte {
	dst = appendText(dst, recordKey, r.Key)
	dst = appendText(dst, recordOwner, r.Owner)
	dst = appendNumber(dst, recordEpoch, r.Epoch)
	dst = appendNumber(dst, recordForgotten, r.ForgottenAtEpoch)
	return appendBool(dst, recordHeld, r.Held)
}

// record reads the present field as a record.
func (c *cursor) record() tenure.Record {
	var r tenure.Record
	in := cursor{rest: c.bytes}
	for in.next() {
		switch in.number {
		case recordKey:
			r.Key = in.text(tenure.MaxKeyBytes)
		case recordOwner:
			r.Owner = in.text(tenure.MaxOwnerBytes)
		case recordEpoch:
			r.Epoch = in.value
		case recordForgotten:
			r.ForgottenAtEpoch = in.value
		case recordHeld:
			r.Held = in.flag()
		}
	}
	c.adopt(&in)
	return r
}

// adopt takes over the error of a cursor over a part.
func (c *cursor) adopt(in *cursor) {
	if in.err != nil && c.err == nil {
		c.err, c.rest = fmt.Errorf("field %d: %w", c.number, in.err), nil
	}
}
