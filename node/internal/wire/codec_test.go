package wire

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.com/tenure"
	"example.com/tenure/fsm"
)

// commands is a request of every kind.
var commands = []fsm.Command{
	{Kind: fsm.Acquire, Key: "t1", Owner: "r1/ab", RequestID: "q1", TTL: 10 * time.Second},
	{Kind: fsm.Renew, Key: "t2", Owner: "r1/ab", Epoch: 7, TTL: 10 * time.Second},
	{Kind: fsm.Release, Key: "t3", Owner: "r1/ab", Epoch: 8},
	{Kind: fsm.Release, Key: "t4", Owner: "r1/ab", RequestID: "q4"},
	{Kind: fsm.Forget, Key: "t5", Owner: "r1/ab", Epoch: 9},
	{Kind: fsm.Acquire, Key: "t6", Owner: "r1/ab", RequestID: "q6", TTL: 10 * time.Second},
}

// results answer them.
var results = []tenure.Result{
	{Grant: tenure.Grant{Record: tenure.Record{Key: "t1", Owner: "r1/ab", Epoch: 5, ForgottenAtEpoch: 2, Held: true}, TTL: 10 * time.Second, Index: 900}},
	{Grant: tenure.Grant{Record: tenure.Record{Key: "t2", Owner: "r1/ab", Epoch: 7, Held: true}, TTL: 15 * time.Second, Index: 900}},
	{Err: &tenure.LostError{Key: "t3", Owner: "r1/ab", Epoch: 8, Record: tenure.Record{Key: "t3", Owner: "r2", Epoch: 9, Held: true}, Reason: "taken over"}},
	{Err: &tenure.UnavailableError{Key: "t4", MaybeApplied: true, Reason: "leadership lost", Err: context.DeadlineExceeded}},
	{Err: &tenure.InvalidError{Key: "t5", Field: "epoch", Value: "9", Bound: "less"}},
	{Err: &tenure.HeldError{Record: tenure.Record{Key: "t6", Owner: "r2/cd", Epoch: 3, Held: true}, Remaining: 1234567 * time.Nanosecond}},
}

// A lease request and its answer arrive as they were sent.
func TestLease(t *testing.T) {
	for _, waits := range [][]time.Duration{nil, {time.Second, 0, 0, 0, 0, tenure.MaxWait}} {
		p, err := AppendLeaseRequest([]byte("before"), commands, waits)
		if err != nil {
			t.Fatal(err)
		}
		gotCommands, gotWaits, err := DecodeLeaseRequest(p[len("before"):])
		if err != nil || !reflect.DeepEqual(gotCommands, commands) || !reflect.DeepEqual(gotWaits, waits) {
			t.Errorf("got %+v, %v, %v", gotCommands, gotWaits, err)
		}
	}
	p := AppendLeaseAnswer(nil, commands, results)
	got, err := DecodeLeaseAnswer(p, commands)
	if err != nil {
		t.Fatal(err)
	}
	for i := range results {
		if !reflect.DeepEqual(got[i], results[i]) {
			t.Errorf("result %d: got %+v (%v), want %+v", i, got[i], got[i].Err, results[i])
		}
	}
}

// Waits are never shortened, and left out when nobody waits.
func TestWaits(t *testing.T) {
	none, _ := AppendLeaseRequest(nil, commands[:1], nil)
	zero, _ := AppendLeaseRequest(nil, commands[:1], []time.Duration{0})
	if string(none) != string(zero) {
		t.Error("a wait of 0 costs bytes")
	}
	part, err := AppendLeaseRequest(nil, commands[:1], []time.Duration{1500 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, waits, err := DecodeLeaseRequest(part); err != nil || waits[0] != 2*time.Millisecond {
		t.Errorf("got %v, %v, want 2ms", waits, err)
	}
	long, _ := AppendLeaseRequest(nil, commands[:1], []time.Duration{tenure.MaxWait + 1})
	if _, _, err := DecodeLeaseRequest(long); !errors.Is(err, ErrMalformed) {
		t.Errorf("a wait beyond the bound: %v", err)
	}
}

// Only what a caller may ask for goes through, at both ends.
func TestLeaseRequestRefuses(t *testing.T) {
	bad := map[string]fsm.Command{
		"evidence": {Kind: fsm.Acquire, Key: "k", Owner: "o", RequestID: "q", TTL: time.Second, Evidence: fsm.Evidence{Epoch: 1, GrantIndex: 2}},
		"a number": {Kind: fsm.Renew, TTL: time.Second, Number: fsm.Number{Slot: 1, Serial: 2}},
		"settings": {Kind: fsm.Cluster, Settings: fsm.Settings{ClusterID: "c"}},
	}
	for name, c := range bad {
		if _, err := AppendLeaseRequest(nil, []fsm.Command{c}, nil); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: encoded, %v", name, err)
		}
		entry, err := fsm.AppendEntry(nil, []fsm.Command{c})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := DecodeLeaseRequest(appendPart(nil, leaseEntry, entry)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: decoded, %v", name, err)
		}
	}
	if _, err := AppendLeaseRequest(nil, nil, nil); err == nil {
		t.Error("no commands: encoded")
	}
	if _, _, err := DecodeLeaseRequest(nil); err == nil {
		t.Error("no entry: decoded")
	}
	large := make([]fsm.Command, 20000)
	for i := range large {
		large[i] = fsm.Command{Kind: fsm.Renew, Key: fmt.Sprintf("%0500d", i), Owner: "o", Epoch: 1, TTL: time.Second}
	}
	if _, err := AppendLeaseRequest(nil, large, nil); !errors.Is(err, ErrOverload) {
		t.Errorf("too large: %v", err)
	}
}

// The bytes of requests and answers must not change: nodes and clients of
// different versions meet. The renewal in it, with nothing new to say but the
// TTL, takes 5 bytes, and 3 without it.
func TestLeaseGolden(t *testing.T) {
	request, err := AppendLeaseRequest(nil, commands[:1], []time.Duration{time.Second})
	if err != nil {
		t.Fatal(err)
	}
	entry, _ := fsm.AppendEntry(nil, commands[:1])
	checkGolden(t, "request", request, fmt.Sprintf("03%02x%x", len(entry), entry)+"0502e807")
	checkGolden(t, "answer", AppendLeaseAnswer(nil, commands, results), "00"+
		"d905"+"02"+"880e"+ // granted, epoch 5, forgotten 2, index 900
		"b900"+"b0ea01"+"00"+ // renewed, TTL 15 s, same index
		"3b"+"1c"+"0202"+"0d0c"+"03027433"+"05027232"+"0609"+"0a01"+"130a74616b656e206f766572"+ // lost
		"2b"+"32"+"0203"+"1001"+"130f"+hex.EncodeToString([]byte("leadership lost"))+"1401"+"1719"+hex.EncodeToString([]byte(context.DeadlineExceeded.Error()))+
		"0b"+"12"+"0204"+"1905"+hex.EncodeToString([]byte("epoch"))+"1b0139"+"1d04"+hex.EncodeToString([]byte("less"))+
		"8a"+"057232"+"2f6364"+"03"+"00"+"8fda9601") // held by r2/cd at epoch 3
	checkGolden(t, "not the leader", AppendFailure(nil, &NotLeader{LeaderID: "n2", LeaderAddr: "n2:7400"}), "01"+"0205"+"1f026e32"+"21076e323a37343030")
	renewed := []tenure.Result{{Grant: tenure.Grant{Record: tenure.Record{Key: "t2", Owner: "r1/ab", Epoch: 7, Held: true}, TTL: 10 * time.Second}}}
	checkGolden(t, "renewal", AppendLeaseAnswer(nil, commands[1:2], renewed), "00"+"f90000")
}

func checkGolden(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	if hex.EncodeToString(got) != want {
		t.Errorf("%s:\ngot  %x\nwant %s", what, got, want)
	}
}

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

// Results that are too large for one answer become a refusal of all that claims
// nothing about the outcome.
func TestAnswerTooLarge(t *testing.T) {
	many := make([]fsm.Command, fsm.MaxCommands)
	refused := make([]tenure.Result, len(many))
	for i := range refused {
		refused[i].Err = &tenure.UnavailableError{Reason: strings.Repeat("x", maxReason)}
	}
	p := AppendLeaseAnswer([]byte("before"), many, refused)
	_, err := DecodeLeaseAnswer(p[len("before"):], many)
	var unavailable *tenure.UnavailableError
	if !errors.As(err, &unavailable) || !unavailable.MaybeApplied {
		t.Errorf("got %v", err)
	}
}

// Every message arrives as it was sent.
func TestMessages(t *testing.T) {
	for _, want := range messages {
		got := reflect.New(reflect.TypeOf(want).Elem()).Interface().(Message)
		if err := DecodeMessage(AppendMessage(nil, want), got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		got = reflect.New(reflect.TypeOf(want).Elem()).Interface().(Message)
		if err := DecodeAnswer(AppendAnswer(nil, want), got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("answer: got %+v, %v, want %+v", got, err, want)
		}
	}
	if err := DecodeAnswer(nil, &Empty{}); !errors.Is(err, ErrMalformed) {
		t.Errorf("an empty answer: %v", err)
	}
	if err := DecodeAnswer([]byte{2}, &Empty{}); !errors.Is(err, ErrMalformed) {
		t.Errorf("an answer of another kind: %v", err)
	}
}

var messages = []Message{
	&Empty{},
	&Index{Index: 77},
	&Key{Key: "t1"},
	&View{View: tenure.View{Record: tenure.Record{Key: "t1", Owner: "o", Epoch: 4, ForgottenAtEpoch: 3, Held: true}, TTL: time.Second, Index: 9, Expired: true, Remaining: 1}},
	&View{View: tenure.View{Record: tenure.Record{Key: "t1", Epoch: 4}}},
	&Join{ID: "n4", Incarnation: "i4", Addr: "n4:7400", Nonvoter: true},
	&Joined{ClusterID: "c1", LargestTTL: time.Hour},
	&Target{ID: "n2"},
	&Members{Members: []tenure.Member{{ID: "n1", Incarnation: "i1", Addr: "n1:7400", Voter: true, Leader: true}, {ID: "n2"}}},
	&StateAsk{Index: 5},
	&State{Applied: 10, Index: 5, Checksum: 1 << 63},
	&Identity{ID: "n1", Incarnation: "i1", Addr: "n1:7400", ClusterID: "c1", PeersHash: "ab", Empty: true},
	&Founding{ClusterID: "c1", LargestTTL: 90 * time.Minute, Founders: []Founder{{ID: "n1", Incarnation: "i1", Addr: "n1:7400"}, {ID: "n2", Incarnation: "i2", Addr: "n2:7400"}}},
}

// The bytes of messages must not change either.
func TestMessageGolden(t *testing.T) {
	golden := []string{
		"", "024d", "03027431", "030d" + "03027431" + "05016f" + "0604" + "0803" + "0a01" + "04d00f" + "0609" + "0801" + "0a03",
		"0306" + "03027431" + "0604",
		"03026e34" + "05026934" + "07076e343a37343030" + "0801", "03026331" + "0480bab703", "03026e32",
		"0315" + "03026e31" + "05026931" + "07076e313a37343030" + "0801" + "0a01" + "0304" + "03026e32",
		"0205", "020a" + "0405" + "0680808080808080808001",
		"03026e31" + "05026931" + "07076e313a37343030" + "09026331" + "0b026162" + "0c01",
		"03026331" + "0480979305" + "0711" + "03026e31" + "05026931" + "07076e313a37343030" + "0711" + "03026e32" + "05026932" + "07076e323a37343030",
	}
	for i, m := range messages {
		checkGolden(t, fmt.Sprintf("%+v", m), AppendMessage(nil, m), golden[i])
	}
}

// A field that this version doesn't know is passed over; what no encoder made
// is refused.
func TestFields(t *testing.T) {
	later := appendText(appendNumber(nil, 1, 5), 999, "of a later version")
	var m Index
	if err := DecodeMessage(later, &m); err != nil || m.Index != 5 {
		t.Errorf("got %+v, %v", m, err)
	}
	bad := map[string][]byte{
		"fields astray":       {2 << 1, 1, 1 << 1, 1},
		"field 0":             {0, 1},
		"an overlong varint":  {1 << 1, 0x80, 0},
		"a cut varint":        {1 << 1, 0x80},
		"a cut text":          {1<<1 | 1, 5, 'x'},
		"a text past the end": {1<<1 | 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
	}
	for name, p := range bad {
		if err := DecodeMessage(p, &Index{}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	beyond := map[string]struct {
		p []byte
		m Message
	}{
		"a bool of 2":     {appendNumber(nil, 4, 2), &Join{}},
		"a long key":      {appendText(nil, 1, strings.Repeat("k", tenure.MaxKeyBytes+1)), &Key{}},
		"no UTF-8":        {appendText(nil, 1, "\xff"), &Key{}},
		"a long duration": {appendNumber(nil, 2, 1<<62), &Joined{}},
		"a bad part":      {appendPart(nil, 1, "\x00"), &Members{}},
		"many members":    {AppendMessage(nil, &Members{Members: make([]tenure.Member, maxMembers+1)}), &Members{}},
	}
	for name, test := range beyond {
		if err := DecodeMessage(test.p, test.m); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLeaseAnswerMalformed(t *testing.T) {
	good := AppendLeaseAnswer(nil, commands, results)
	for cut := range good {
		if _, err := DecodeLeaseAnswer(good[:cut], commands); !errors.Is(err, ErrMalformed) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
	if _, err := DecodeLeaseAnswer(append(good, 0), commands); !errors.Is(err, ErrMalformed) {
		t.Errorf("one byte more: %v", err)
	}
	if _, err := DecodeLeaseAnswer([]byte{answerDone, 7}, commands[:1]); !errors.Is(err, ErrMalformed) {
		t.Errorf("an unknown kind: %v", err)
	}
}

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

func FuzzLeaseRequest(f *testing.F) {
	for _, waits := range [][]time.Duration{nil, {time.Second, 0, 0, 0, 0, 5}} {
		p, _ := AppendLeaseRequest(nil, commands, waits)
		f.Add(p)
	}
	f.Add([]byte{3, 0})
	f.Fuzz(func(t *testing.T, p []byte) {
		decoded, waits, err := DecodeLeaseRequest(p)
		if err != nil {
			return
		}
		again, err := AppendLeaseRequest(nil, decoded, waits)
		if err != nil {
			t.Fatal(err)
		}
		decodedAgain, _, err := DecodeLeaseRequest(again)
		if err != nil || !reflect.DeepEqual(decoded, decodedAgain) {
			t.Fatalf("read %+v, again %+v, %v", decoded, decodedAgain, err)
		}
	})
}

func FuzzLeaseAnswer(f *testing.F) {
	f.Add(AppendLeaseAnswer(nil, commands, results))
	f.Add(AppendFailure(nil, &NotLeader{LeaderID: "n2"}))
	f.Fuzz(func(t *testing.T, p []byte) {
		decoded, err := DecodeLeaseAnswer(p, commands)
		if err != nil {
			return
		}
		again, err := DecodeLeaseAnswer(AppendLeaseAnswer(nil, commands, decoded), commands)
		if err != nil || !reflect.DeepEqual(decoded, again) {
			t.Fatalf("read %+v, again %+v, %v", decoded, again, err)
		}
	})
}

func FuzzMessages(f *testing.F) {
	for i, m := range messages {
		f.Add(i, AppendMessage(nil, m))
	}
	f.Fuzz(func(t *testing.T, which int, p []byte) {
		kind := reflect.TypeOf(messages[uint(which)%uint(len(messages))]).Elem()
		got := reflect.New(kind).Interface().(Message)
		if DecodeMessage(p, got) != nil {
			return
		}
		again := reflect.New(kind).Interface().(Message)
		if err := DecodeMessage(AppendMessage(nil, got), again); err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("read %+v, again %+v, %v", got, again, err)
		}
	})
}
