package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.com/tenure"
)

// over sends an error as a refusal and makes it again.
func over(t *testing.T, err error) error {
	t.Helper()
	raw, failed := json.Marshal(RefusalOf(err))
	if failed != nil {
		t.Fatal(failed)
	}
	var r Refusal
	if failed := json.Unmarshal(raw, &r); failed != nil {
		t.Fatal(failed)
	}
	if r.Message != err.Error() {
		t.Errorf("message %q of %q", r.Message, err)
	}
	return r.Err()
}

// Each kind of error comes out of a refusal as it went in, to the last field.
func TestErrorsSurviveTheWire(t *testing.T) {
	record := tenure.Record{Key: "t1", Owner: "r1", Epoch: tenure.MaxEpoch, ForgottenAtEpoch: 1 << 53, Held: true}
	for _, err := range []error{
		&tenure.HeldError{Record: record, Remaining: 1500 * time.Millisecond},
		&tenure.HeldError{Record: tenure.Record{Key: "t1", Epoch: 5}}, // a restore marker's
		&tenure.LostError{Key: "t1", Owner: "r2", Epoch: 1<<53 + 1, Record: record},
		&tenure.LostError{Key: "t1", Owner: "r2", RequestID: "a", Reason: "it ended"},
		&tenure.InvalidError{Key: "t1", Field: "epoch", Value: "0", Bound: "from 1 to 2"},
		&tenure.InvalidError{Field: "key", Value: `"\x00<&>"`, Bound: "1 byte"},
		&tenure.UnavailableError{Key: "t1", MaybeApplied: true, Reason: "leadership lost"},
		&tenure.UnavailableError{Reason: "no leader"},
	} {
		if got := over(t, err); !reflect.DeepEqual(got, err) {
			t.Errorf("%#v became %#v", err, got)
		}
	}
}

// A cause becomes text: it means nothing in another process.
func TestCauseBecomesText(t *testing.T) {
	err := &tenure.UnavailableError{Key: "t1", MaybeApplied: true, Reason: "no answer", Err: context.DeadlineExceeded}
	got := over(t, err)
	want := &tenure.UnavailableError{Key: "t1", MaybeApplied: true, Reason: "no answer: context deadline exceeded"}
	if !reflect.DeepEqual(got, want) || got.Error() != err.Error() {
		t.Errorf("%#v became %#v", err, got)
	}
}

// What is unknown on either side says nothing about the outcome.
func TestUnknownMayBeApplied(t *testing.T) {
	for _, err := range []error{
		RefusalOf(errors.New("disk on fire")).Err(),
		RefusalOf(&tenure.FencedError{Key: "t1", Reason: tenure.LeaseLost}).Err(),
		Refusal{Code: "postponed", Message: "come back later"}.Err(),
		Refusal{Code: CodeUnavailable, Message: "no leader"}.Err(),
	} {
		var u *tenure.UnavailableError
		if !errors.As(err, &u) || !u.MaybeApplied || u.Reason == "" {
			t.Errorf("%#v is not maybe applied", err)
		}
	}
	// A held answer that an earlier attempt makes uncertain stays uncertain.
	uncertain := &tenure.UnavailableError{MaybeApplied: true, Reason: "an earlier attempt", Err: &tenure.HeldError{}}
	if r := RefusalOf(fmt.Errorf("asking: %w", uncertain)); r.Code != CodeUnavailable || !*r.MaybeApplied {
		t.Errorf("%+v", r)
	}
}

func TestEpochsInJSON(t *testing.T) {
	for epoch, want := range map[Epoch]string{0: `0`, 1: `1`, 1 << 53: `9007199254740992`, 1<<53 + 1: `"9007199254740993"`, 1<<64 - 1: `"18446744073709551615"`} {
		raw, err := json.Marshal(epoch)
		if err != nil || string(raw) != want {
			t.Errorf("%d is %s, %v; want %s", epoch, raw, err, want)
		}
		var back Epoch
		if err := json.Unmarshal(raw, &back); err != nil || back != epoch {
			t.Errorf("%s is read as %d, %v", raw, back, err)
		}
	}
	var e Epoch
	if err := json.Unmarshal([]byte(`"7"`), &e); err != nil || e != 7 {
		t.Errorf(`"7" is read as %d, %v`, e, err)
	}
	for _, raw := range []string{`9007199254740993`, `18446744073709551616`, `"18446744073709551616"`, `-1`, `1.0`, `1e3`, `""`, `"x"`, `null`, `[1]`, `"1`} {
		if err := e.UnmarshalJSON([]byte(raw)); err == nil {
			t.Errorf("%s is read as %d", raw, e)
		}
	}
}

func TestRemainingIsRoundedUp(t *testing.T) {
	for d, want := range map[time.Duration]int64{0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, 24 * time.Hour: 86400000} {
		if got := ceilMillis(d); got != want {
			t.Errorf("%v is %d ms, want %d", d, got, want)
		}
	}
}

// Answers come out of JSON as they went in.
func TestAnswersSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := Record{
			Key: rapid.String().Draw(t, "key"), Owner: rapid.String().Draw(t, "owner"),
			Epoch: Epoch(rapid.Uint64().Draw(t, "epoch")), ForgottenAtEpoch: Epoch(rapid.Uint64().Draw(t, "forgotten")), Held: rapid.Bool().Draw(t, "held"),
		}
		sent := Results{Results: []Result{
			{Grant: Grant{Record: record, TTLMillis: rapid.Int64().Draw(t, "ttl")}},
			{Err: &tenure.HeldError{Record: record.Record(), Remaining: time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "remaining")) * time.Millisecond}},
		}}
		if RecordOf(record.Record()) != record {
			t.Fatalf("%+v changed", record)
		}
		raw, err := json.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		var got Results
		if err := json.Unmarshal(raw, &got); err != nil || !reflect.DeepEqual(got, sent) {
			t.Fatalf("%+v\nbecame %+v, %v", sent, got, err)
		}
	})
}
