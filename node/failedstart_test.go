package node_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"go.uber.org/goleak"

	"example.com/tenure/node"
)

// A brokenLog is a storage in memory whose log can't be written.
type brokenLog struct{ node.Storage }

// Open implements [node.Storage].
func (s brokenLog) Open(logger hclog.Logger) (node.Stores, error) {
	stores, err := s.Storage.Open(logger)
	stores.Log = brokenStore{stores.Log}
	return stores, err
}

type brokenStore struct{ raft.LogStore }

func (s brokenStore) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

func (s brokenStore) StoreLogs([]*raft.Log) error { return errors.New("input/output error") }

// A node whose Raft can't be started, since its first entry can't be written,
// stops and says why. Nothing of it is left, its transport neither, and it can
// be opened again once the disk works.
func TestFailedStartLeavesNothingBehind(t *testing.T) {
	leak := goleak.IgnoreCurrent()
	disk := node.MemoryStorage()
	addr := freeAddr(t)
	cfg := node.Config{ID: "n1", Listen: addr, Peers: []node.Peer{{ID: "n1", Addr: addr}}, Storage: brokenLog{disk}, ElectionTimeout: 200 * time.Millisecond}
	n, err := node.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-n.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the node goes on")
	}
	if err := n.Err(); !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("the node stopped with %v", err)
	}
	n.Close()
	goleak.VerifyNone(t, leak)

	cfg.Storage = disk
	again, err := node.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.WaitReady(within(t, 20*time.Second)); err != nil {
		t.Error(err)
	}
}
