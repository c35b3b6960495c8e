package storage

import (
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// A real Raft on a real disk comes back with what it had, from its snapshot and
// the log after it.
func TestRaftOnBolt(t *testing.T) {
	n := &clusterNode{t: t, id: "n1", faults: &faults{}, storage: Bolt(quickDir(t))}
	n.open()
	s := n.guard.ForRaft()
	servers := []raft.Server{{ID: "n1", Address: "n1"}}
	err := <-Go(func() {
		err := raft.BootstrapCluster(n.config(), s.Log, s.Stable, s.Snapshots, n.trans, raft.Configuration{Servers: servers})
		if err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := uint64(0)
	for round := range 3 {
		if err := n.start(); err != nil {
			t.Fatal(err)
		}
		awaitLeadership(t, n)
		if got := n.sm.count(); got != want {
			t.Errorf("round %d: it has applied %d commands, want %d", round, got, want)
		}
		for range 30 {
			if err := n.apply(); err != nil {
				t.Fatal(err)
			}
			want++
		}
		if err := n.raft.Snapshot().Error(); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if err := n.apply(); err != nil {
				t.Fatal(err)
			}
			want++
		}
		n.stop()
		n.open()
	}
	n.stop()
}

// awaitLeadership waits until the node leads and has applied all it had.
func awaitLeadership(t *testing.T, n *clusterNode) {
	t.Helper()
	select {
	case <-n.raft.LeaderCh():
	case <-time.After(30 * time.Second):
		t.Fatal("it does not lead")
	}
	if err := n.raft.Barrier(0).Error(); err != nil {
		t.Fatal(err)
	}
}
