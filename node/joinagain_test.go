package node_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/tenure"
	"example.com/tenure/node"
)

// A stuckLog is a storage in memory whose log takes nothing until it is freed.
// The node's identity and vote are written nevertheless.
type stuckLog struct {
	node.Storage
	freed chan struct{}
}

// Open implements [node.Storage].
func (s stuckLog) Open(logger hclog.Logger) (node.Stores, error) {
	stores, err := s.Storage.Open(logger)
	stores.Log = stuckStore{stores.Log, s.freed}
	return stores, err
}

type stuckStore struct {
	raft.LogStore
	freed chan struct{}
}

func (s stuckStore) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

func (s stuckStore) StoreLogs(logs []*raft.Log) error {
	<-s.freed
	return s.LogStore.StoreLogs(logs)
}

// A halfJoined is a cluster of one and a node that it let in as a nonvoter, and
// that never catches up while its log is stuck.
type halfJoined struct {
	leader, joiner *node.Node
	config         node.Config // the joiner's
	disk           stuckLog
}

func newHalfJoined(t *testing.T) *halfJoined {
	t.Helper()
	leader := newCluster(t, 1).leader()
	h := &halfJoined{leader: leader, disk: stuckLog{node.MemoryStorage(), make(chan struct{})}}
	h.config = node.Config{ID: "n2", Listen: freeAddr(t), Join: leader.Addr(), Storage: h.disk, ElectionTimeout: 200 * time.Millisecond}
	h.joiner = h.open(t)
	for ctx := within(t, 20*time.Second); len(leader.Status().Members) < 2; time.Sleep(5 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatal("the joiner is not let in")
		}
	}
	return h
}

func (h *halfJoined) open(t *testing.T) *node.Node {
	t.Helper()
	n, err := node.Open(context.Background(), h.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// A node that was restarted in the middle of its join, as a nonvoter and with
// the cluster's id on its disk, asks again, and gets its vote.
func TestRestartedJoinerAsksAgain(t *testing.T) {
	h := newHalfJoined(t)
	h.joiner.Close()
	close(h.disk.freed)
	if got := voters(t, h.leader); len(got) != 1 {
		t.Fatalf("the voters are %v before the joiner has caught up", got)
	}
	h.config.Storage = h.disk.Storage
	h.open(t)
	for ctx := within(t, 20*time.Second); len(voters(t, h.leader)) < 2; time.Sleep(10 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatal("the restarted joiner never got its vote")
		}
	}
}

// A call ends with the node that it was made at, also one whose context has no
// end, and that waits for something that doesn't come.
func TestCallsEndWithTheNode(t *testing.T) {
	h := newHalfJoined(t)
	t.Cleanup(func() { close(h.disk.freed) })
	joined := make(chan error, 1)
	go func() { joined <- h.leader.Join(context.Background(), "n2", h.joiner.Addr(), false) }()
	select {
	case err := <-joined:
		t.Fatalf("the join ended while the joiner's log is stuck: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	h.leader.Close()
	select {
	case err := <-joined:
		if !errors.Is(err, tenure.ErrUnavailable) {
			t.Errorf("the join ended with %v, want unavailable", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the join goes on after the node was closed")
	}
}
