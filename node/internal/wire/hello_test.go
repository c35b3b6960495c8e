package wire

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure/node/internal/wire/wiretest"
)

var (
	n1 = Hello{Purpose: PurposeRaft, ClusterID: "c1", NodeID: "n1", Incarnation: "i1", Addr: "n1:7400", EntryVersion: 3}
	n2 = Hello{Purpose: PurposeRaft, ClusterID: "c1", NodeID: "n2", Incarnation: "i2", Addr: "n2:7400", EntryVersion: 3}
)

// greeting runs both sides of a greeting and returns what each learnt.
func greeting(t *testing.T, dialler, acceptor Hello, judge func(self, peer Hello) *Refused) (atDialler, atAcceptor Hello, err error) {
	t.Helper()
	near, far := wiretest.Pipe()
	defer near.Close()
	defer far.Close()
	accepted := make(chan Hello, 1)
	go func() {
		peer, err := ReadHello(far)
		if err != nil {
			t.Error(err)
		}
		if err := Answer(far, acceptor, judge(acceptor, peer)); err != nil {
			t.Error(err)
		}
		accepted <- peer
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	atDialler, err = Greet(ctx, near, dialler)
	return atDialler, <-accepted, err
}

// Each end learns all that the other says of itself, and the connection is then
// without a deadline and at the byte after the hello.
func TestGreet(t *testing.T) {
	dialler := n1
	dialler.ExpectID, dialler.ExpectIncarnation = "n2", "i2"
	atDialler, atAcceptor, err := greeting(t, dialler, n2, Check)
	if err != nil {
		t.Fatal(err)
	}
	dialler.ProtocolVersion = Version
	if atAcceptor != dialler {
		t.Errorf("the acceptor got %+v, want %+v", atAcceptor, dialler)
	}
	want := n2
	want.ProtocolVersion = Version
	if atDialler != want {
		t.Errorf("the dialler got %+v, want %+v", atDialler, want)
	}
}

// change returns a hello with a change.
func change(h Hello, change func(*Hello)) Hello {
	change(&h)
	return h
}

// Every reason for which two ends don't belong together is found, whichever of
// the two looks for it, and the dialler learns code, message and who it met.
func TestRefusals(t *testing.T) {
	api := func(h *Hello) { h.Purpose = PurposeAPI }
	tests := []struct {
		name              string
		dialler, acceptor Hello
		code              Code
		says              string
	}{
		{"fine", n1, n2, CodeOK, ""},
		{"a client", Hello{Purpose: PurposeAPI}, n2, CodeOK, ""},
		{"founding", change(n1, func(h *Hello) { api(h); h.ClusterID = "" }), change(n2, func(h *Hello) { h.ClusterID = "" }), CodeOK, ""},
		{"joining", change(n1, func(h *Hello) { api(h); h.ClusterID = "" }), n2, CodeOK, ""},
		{"to itself", change(n1, api), n1, CodeOK, ""},
		{"other cluster", n1, change(n2, func(h *Hello) { h.ClusterID = "c9" }), CodeOtherCluster, "c9"},
		{"a client of another cluster", Hello{Purpose: PurposeAPI, ClusterID: "c9"}, n2, CodeOtherCluster, "c9"},
		{"other node", change(n1, func(h *Hello) { h.ExpectID = "n3" }), n2, CodeOtherNode, "n3"},
		{"wrong incarnation", change(n1, func(h *Hello) { h.ExpectIncarnation = "i9" }), n2, CodeOtherIncarnation, "i9"},
		{"two of one name", change(n1, api), change(n2, func(h *Hello) { h.NodeID = "n1" }), CodeOtherNode, "two nodes are called n1"},
		{"raft without a cluster", change(n1, func(h *Hello) { h.ClusterID = "" }), n2, CodeNotMember, "once it has a cluster"},
		{"raft to a node without a cluster", n1, change(n2, func(h *Hello) { h.ClusterID = "" }), CodeNotMember, "once it has a cluster"},
		{"raft without an address", change(n1, func(h *Hello) { h.Addr = "" }), n2, CodeOtherNode, "an address"},
		{"raft to itself", n1, n1, CodeOtherNode, "itself"},
		{"unknown purpose", change(n1, func(h *Hello) { h.Purpose = 7 }), n2, CodePurpose, "purpose 7"},
		{"nobody answers", n1, change(n2, func(h *Hello) { h.Incarnation = "" }), CodeOtherNode, "names no node"},
	}
	blind := func(_, _ Hello) *Refused { return nil }
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := greeting(t, test.dialler, test.acceptor, Check)
			checkRefusal(t, err, test.code, test.says)
			if test.dialler.Addr != "" && test.code != CodePurpose { // else only the acceptor can know
				_, _, err = greeting(t, test.dialler, test.acceptor, blind)
				checkRefusal(t, err, test.code, test.says)
			}
		})
	}
}

func checkRefusal(t *testing.T, err error, code Code, says string) {
	t.Helper()
	var refused *Refused
	if code == CodeOK {
		if err != nil {
			t.Errorf("got %v", err)
		}
		return
	}
	if !errors.As(err, &refused) || refused.Code != code || !strings.Contains(err.Error(), says) || refused.Peer.ProtocolVersion != Version {
		t.Errorf("got %v, want %v and %q", err, code, says)
	}
}

// A node may refuse for reasons of its own; message and code arrive.
func TestRefusedByTheNode(t *testing.T) {
	_, _, err := greeting(t, n1, n2, func(_, peer Hello) *Refused {
		return &Refused{Code: CodeRemoved, Message: "n1 was removed\nfrom the cluster" + strings.Repeat("x", 2*maxReason), Peer: peer}
	})
	var refused *Refused
	if !errors.As(err, &refused) || refused.Code != CodeRemoved || !refused.ByPeer || refused.Peer.NodeID != "n2" {
		t.Fatalf("got %v", err)
	}
	if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "n1 was removed") {
		t.Errorf("the message %q can't go into a log line", err)
	}
}

// A peer of an older protocol is told to upgrade.
func TestOldVersion(t *testing.T) {
	if r := Check(n2, n1); r == nil || r.Code != CodeVersion {
		t.Errorf("a hello of version 0: got %v", r)
	}
	if r := CheckAnswer(n1, n2); r == nil || r.Code != CodeVersion {
		t.Errorf("an answer of version 0: got %v", r)
	}
}

// A peer that never answers costs the dialler its deadline and no more, and a
// cancelled context ends the wait at once.
func TestGreetEnds(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			near, far := wiretest.Pipe()
			defer far.Close()
			defer near.Close()
			ctx, cancel := context.WithCancel(context.Background())
			want := context.Canceled
			if cancelled {
				time.AfterFunc(time.Second, cancel)
			} else {
				ctx, cancel = context.WithTimeout(ctx, time.Second)
				want = context.DeadlineExceeded
			}
			defer cancel()
			started := time.Now()
			_, err := Greet(ctx, near, n1)
			if !errors.Is(err, want) || time.Since(started) != time.Second {
				t.Errorf("after %v: got %v, want %v", time.Since(started), err, want)
			}
		})
	}
}

// What isn't a hello is refused without reading on.
func TestBadHellos(t *testing.T) {
	good := appendHello(nil, n1, nil)
	tests := map[string][]byte{
		"http":          []byte("GET / HTTP/1.1\r\n\r\n"),
		"tls":           {0x16, 3, 1, 2, 0, 1},
		"too long":      append([]byte(Magic), 0xff, 0xff),
		"cut":           good[:len(good)-1],
		"nothing":       nil,
		"a verdict":     appendHello(nil, n1, &Refused{Code: CodeBusy}),
		"fields astray": append([]byte(Magic), 0, 4, 2<<1, 1, 1<<1, 1),
		"an id of 300":  appendHello(nil, Hello{NodeID: strings.Repeat("x", 300)}, nil),
		"not UTF-8":     appendHello(nil, Hello{NodeID: "\xff"}, nil),
	}
	for name, bytes := range tests {
		if h, err := ReadHello(strings.NewReader(string(bytes))); err == nil {
			t.Errorf("%s: read as %+v", name, h)
		}
	}
	from := strings.NewReader(string(good) + "what follows")
	if _, err := ReadHello(from); err != nil {
		t.Fatal(err)
	}
	if rest, _ := io.ReadAll(from); string(rest) != "what follows" {
		t.Errorf("left %q", rest)
	}
}

// The bytes of a hello must not change: nodes of different versions meet.
func TestHelloGolden(t *testing.T) {
	dialler := n1
	dialler.ExpectID, dialler.ExpectIncarnation = "n2", "i2"
	golden := map[string][]byte{
		"01746e7200230201040107026331" + "09026e310b026931" + "0d076e313a37343030" + "0e03" + "11026e3213026932":      appendHello(nil, dialler, nil),
		"01746e7200230201040107026331" + "09026e320b026932" + "0d076e323a37343030" + "0e03" + "1406" + "1704676f6e65": appendHello(nil, n2, &Refused{Code: CodeRemoved, Message: "gone"}),
		"01746e720004" + "0201" + "0402": appendHello(nil, Hello{Purpose: PurposeAPI}, nil),
	}
	for want, got := range golden {
		if hex.EncodeToString(got) != want {
			t.Errorf("got  %x\nwant %s", got, want)
		}
	}
}

func FuzzHello(f *testing.F) {
	f.Add(appendHello(nil, n1, nil))
	f.Add(appendHello(nil, n2, &Refused{Code: CodeBusy, Message: "later"}))
	f.Add(append([]byte(Magic), 0, 2, 99<<1, 1))
	f.Fuzz(func(t *testing.T, p []byte) {
		h, refused, err := readHello(bytes.NewReader(p))
		if err != nil {
			return
		}
		if h.ProtocolVersion != Version {
			return // the encoder writes its own
		}
		again, refusedAgain, err := readHello(bytes.NewReader(appendHello(nil, h, refused)))
		if err != nil || again != h || (refused == nil) != (refusedAgain == nil) {
			t.Fatalf("read %+v, %v; again %+v, %v, %v", h, refused, again, refusedAgain, err)
		}
	})
}
