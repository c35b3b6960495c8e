package node

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"example.com/tenure/fsm"
)

// A node whose state differs from the others' at an equal index stops, and the
// others go on.
func TestDivergedNodeStops(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	var peers []Peer
	for i := range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		peers = append(peers, Peer{ID: fmt.Sprint("n", i), Addr: l.Addr().String()})
		l.Close()
	}
	nodes := make([]*Node, len(peers))
	for i, p := range peers {
		n, err := Open(ctx, Config{ID: p.ID, Listen: p.Addr, Peers: peers, Storage: MemoryStorage()})
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		nodes[i] = n
	}
	var bad *Node
	for _, n := range nodes {
		if err := n.WaitReady(ctx); err != nil {
			t.Fatal(err)
		}
		if n.sequencer.Load() == nil {
			bad = n
		}
	}
	if err := bad.machine.Restore(otherState(t, bad)); err != nil {
		t.Fatal(err)
	}
	for bad.Err() == nil && ctx.Err() == nil {
		for _, n := range nodes {
			if n != bad {
				_, _ = n.readIndex(ctx) // the log moves on
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := bad.Err(); err == nil || !strings.Contains(err.Error(), "invariant violated") {
		t.Errorf("the diverged node: %v, want that it stopped over a violated invariant", err)
	}
	for _, n := range nodes {
		if n != bad && n.Err() != nil {
			t.Errorf("another node stopped: %v", n.Err())
		}
	}
}

// otherState is a snapshot at the node's index of a state that the others don't
// have, as a flipped bit in memory might make.
func otherState(t *testing.T, n *Node) io.ReadCloser {
	index, _ := n.machine.Checksum()
	id, largest := n.machine.Cluster()
	entry, err := fsm.AppendEntry(nil, []fsm.Command{
		{Kind: fsm.Cluster, Settings: fsm.Settings{ClusterID: id, LargestTTL: largest}},
		{Kind: fsm.Acquire, Key: "k", Owner: "nobody", RequestID: "1", TTL: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	state := fsm.New()
	if _, err := state.Apply(index, entry, nil); err != nil {
		t.Fatal(err)
	}
	var snapshot bytes.Buffer
	if _, err := state.Snapshot().WriteTo(&snapshot); err != nil {
		t.Fatal(err)
	}
	return io.NopCloser(&snapshot)
}
