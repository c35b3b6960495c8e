package wire

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/tenure"
)

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
