package wire

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.com/tenure"
	"example.com/tenure/fsm"
)

// Any results survive the hop, whatever they repeat of their commands.
func TestResultsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		of := make([]fsm.Command, n)
		want := make([]tenure.Result, n)
		for i := range of {
			of[i] = fsm.Command{Kind: fsm.Renew, Key: drawText(t), Owner: drawText(t), Epoch: drawNumber(t), TTL: drawDuration(t)}
			want[i] = drawResult(t)
		}
		got, err := DecodeLeaseAnswer(AppendLeaseAnswer(nil, of, want), of)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

func drawText(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "a", "b", "ä/b"}).Draw(t, "text")
}
func drawNumber(t *rapid.T) uint64 {
	return rapid.SampledFrom([]uint64{0, 1, 2, 127, 128, 1<<63 - 1, 1 << 63, 1<<64 - 1}).Draw(t, "number")
}
func drawDuration(t *rapid.T) time.Duration {
	return rapid.SampledFrom([]time.Duration{0, 1, time.Millisecond, time.Second, time.Hour + 1, 24 * time.Hour, 1<<63 - 1}).Draw(t, "duration")
}

func drawRecord(t *rapid.T) tenure.Record {
	return tenure.Record{Key: drawText(t), Owner: drawText(t), Epoch: drawNumber(t), ForgottenAtEpoch: drawNumber(t), Held: rapid.Bool().Draw(t, "held")}
}

func drawResult(t *rapid.T) tenure.Result {
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return tenure.Result{Err: &tenure.HeldError{Record: drawRecord(t), Remaining: drawDuration(t)}}
	case 1:
		return tenure.Result{Err: &tenure.LostError{Key: drawText(t), Owner: drawText(t), Epoch: drawNumber(t), RequestID: drawText(t), Record: drawRecord(t), Reason: drawText(t)}}
	case 2:
		return tenure.Result{Err: &tenure.UnavailableError{Key: drawText(t), MaybeApplied: rapid.Bool().Draw(t, "maybe"), Reason: drawText(t)}}
	case 3:
		return tenure.Result{Err: &tenure.InvalidError{Key: drawText(t), Field: drawText(t), Value: drawText(t), Bound: drawText(t)}}
	}
	return tenure.Result{Grant: tenure.Grant{Record: drawRecord(t), TTL: drawDuration(t), Index: drawNumber(t)}}
}
