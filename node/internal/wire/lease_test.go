package wire

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

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

// A number that a former leader gave to a command stays at home.
func TestNumbersAreNotSent(t *testing.T) {
	numbered := slices.Clone(commands)
	numbered[1].Number = fsm.Number{Slot: 3, Serial: 4}
	p, err := AppendLeaseRequest(nil, numbered, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := DecodeLeaseRequest(p); err != nil || !reflect.DeepEqual(got, commands) {
		t.Errorf("got %+v, %v", got, err)
	}
	if numbered[1].Number.Serial != 4 {
		t.Error("the caller's commands were changed")
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
		var notSent *NotSent
		_, err := AppendLeaseRequest(nil, []fsm.Command{c}, nil)
		if name != "a number" && (!errors.As(err, &notSent) || !errors.Is(err, ErrMalformed)) {
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

// Results that are too large for one answer become a refusal of all that claims
// nothing about the outcome.
func TestAnswerTooLarge(t *testing.T) {
	many := make([]fsm.Command, MaxAnswer/maxReason/3)
	long := strings.Repeat("x", maxReason)
	refused := make([]tenure.Result, len(many))
	for i := range refused {
		refused[i].Err = &tenure.InvalidError{Field: long, Value: long, Bound: long}
	}
	p := AppendLeaseAnswer([]byte("before"), many, refused)
	_, err := DecodeLeaseAnswer(p[len("before"):], many)
	var unavailable *tenure.UnavailableError
	if !errors.As(err, &unavailable) || !unavailable.MaybeApplied {
		t.Errorf("got %v", err)
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

// BenchmarkLease is the encoding and decoding, at both ends, of 10,000 renewals
// and their results.
func BenchmarkLease(b *testing.B) {
	renewals := make([]fsm.Command, 10000)
	granted := make([]tenure.Result, len(renewals))
	for i := range renewals {
		c := fsm.Command{Kind: fsm.Renew, Key: fmt.Sprintf("tenant-%d", i), Owner: "r1/ab", Epoch: uint64(i + 1), TTL: 10 * time.Second}
		renewals[i] = c
		granted[i].Grant = tenure.Grant{Record: tenure.Record{Key: c.Key, Owner: c.Owner, Epoch: c.Epoch, Held: true}, TTL: c.TTL, Index: 1 << 20}
	}
	b.ReportAllocs()
	for b.Loop() {
		request, err := AppendLeaseRequest(nil, renewals, nil)
		if err != nil {
			b.Fatal(err)
		}
		asked, _, err := DecodeLeaseRequest(request)
		if err != nil {
			b.Fatal(err)
		}
		answer := AppendLeaseAnswer(nil, asked, granted)
		if _, err := DecodeLeaseAnswer(answer, renewals); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(request) + len(answer)))
	}
}
