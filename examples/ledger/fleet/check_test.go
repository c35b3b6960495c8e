package fleet

import (
	"net"
	"strings"
	"testing"

	"example.com/tenure/examples/ledger/replica"
	"example.com/tenure/examples/ledger/store"
)

// The goal: the check rejects every kind of broken ledger, and no good one.
func TestCheckLedger(t *testing.T) {
	entry := func(seq, epoch uint64, id string) store.Entry { return store.Entry{Seq: seq, Epoch: epoch, ID: id} }
	ack := func(seq, epoch uint64, id string) Ack {
		return Ack{ID: id, Acknowledgement: replica.Acknowledgement{Seq: seq, Epoch: epoch}}
	}
	sent := map[string]int{"w1": 3, "w2": 1}
	good := []store.Entry{entry(1, 2, "w1-1"), entry(2, 2, "w2-1"), entry(3, 5, "w1-3")}
	for _, c := range []struct {
		name    string
		acks    []Ack
		entries []store.Entry
		want    string // "" for none
	}{
		{"good", []Ack{ack(1, 2, "w1-1"), ack(3, 5, "w1-3")}, good, ""},
		{"empty", nil, nil, ""},
		{"unacknowledged entries", nil, good, ""},
		{"lost at the end", []Ack{ack(4, 5, "w1-3")}, good, "the ledger has 3 entries"},
		{"lost to another", []Ack{ack(2, 2, "w1-2")}, good, "is in its place"},
		{"of another epoch", []Ack{ack(3, 2, "w1-3")}, good, "is in its place"},
		{"without a place", []Ack{ack(0, 2, "w1-3")}, good, "is lost"},
		{"twice", nil, []store.Entry{entry(1, 2, "w1-1"), entry(2, 2, "w1-1")}, "twice"},
		{"out of order", nil, []store.Entry{entry(1, 2, "w1-2"), entry(2, 2, "w1-1")}, "comes after entry 2 of its writer"},
		{"a dead epoch", nil, []store.Entry{entry(1, 5, "w1-1"), entry(2, 2, "w1-2")}, "follows an entry of epoch 5"},
		{"never sent", nil, []store.Entry{entry(1, 2, "w2-2")}, "never sent"},
		{"somebody else's", nil, []store.Entry{entry(1, 2, "order-17"), entry(2, 2, "order-3"), entry(3, 2, "x")}, ""},
		{"a gap", nil, []store.Entry{entry(2, 2, "w1-1")}, "at place 1"},
	} {
		violations := checkLedger(c.acks, sent, c.entries)
		got := strings.Join(violations, "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) || c.want != "" && len(violations) != 1 {
			t.Errorf("%s: %q, want one with %q", c.name, violations, c.want)
		}
	}
}

func TestLocal(t *testing.T) {
	peers, err := Local(3, "127.0.0.1:7501", "[::1]:8001")
	if err != nil || replica.FormatPeers(peers) != "r1=127.0.0.1:7501/[::1]:8001,r2=127.0.0.1:7502/[::1]:8002,r3=127.0.0.1:7503/[::1]:8003" {
		t.Errorf("%v, %v", peers, err)
	}
	for _, bad := range []string{"", "host", "host:x", "host:0", "host:65534"} {
		if peers, err := Local(3, bad, "127.0.0.1:8001"); err == nil {
			t.Errorf("%q: %v", bad, peers)
		}
	}
}

func TestFreePeers(t *testing.T) {
	peers, err := FreePeers(5)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, p := range peers {
		for _, addr := range []string{p.Node, p.HTTP} {
			if seen[addr] {
				t.Errorf("%s is given twice", addr)
			}
			seen[addr] = true
			l, err := net.Listen("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			l.Close()
		}
	}
}
