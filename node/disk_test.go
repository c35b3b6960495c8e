package node_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/tenure/node"
)

// A faultyDisk is a storage whose writes fail, panic or hang when a test says.
type faultyDisk struct {
	inner node.Storage

	mu    sync.Mutex
	fault func() error // of a write; nil is none
}

func newFaultyDisk() *faultyDisk { return &faultyDisk{inner: node.MemoryStorage()} }

func (d *faultyDisk) break_(fault func() error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = fault
}

func (d *faultyDisk) write() error {
	d.mu.Lock()
	fault := d.fault
	d.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault()
}

// Open implements [node.Storage].
func (d *faultyDisk) Open(logger hclog.Logger) (node.Stores, error) {
	stores, err := d.inner.Open(logger)
	stores.Log = faultyLog{stores.Log, d}
	stores.Stable = faultyStable{stores.Stable, d}
	return stores, err
}

type faultyLog struct {
	raft.LogStore
	disk *faultyDisk
}

func (l faultyLog) StoreLog(log *raft.Log) error { return l.StoreLogs([]*raft.Log{log}) }

func (l faultyLog) StoreLogs(logs []*raft.Log) error {
	if err := l.disk.write(); err != nil {
		return err
	}
	return l.LogStore.StoreLogs(logs)
}

type faultyStable struct {
	raft.StableStore
	disk *faultyDisk
}

func (s faultyStable) Set(key, value []byte) error {
	if err := s.disk.write(); err != nil {
		return err
	}
	return s.StableStore.Set(key, value)
}

// A node whose disk fails, fills up, panics or hangs stops, or lets another
// one lead; its host goes on, and so does the cluster.
func TestBrokenDisk(t *testing.T) {
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	faults := map[string]struct {
		fault func() error
		err   string // part of what Err says
	}{
		"fails":  {func() error { return errors.New("input/output error") }, "input/output error"},
		"full":   {func() error { return errors.New("no space left on device") }, "no space left on device"},
		"panics": {func() error { panic("a page fault, so to speak") }, "a page fault"},
		"hangs":  {func() error { <-hang; return errors.New("too late") }, "no answer for"},
	}
	for name, f := range faults {
		for _, role := range []string{"leader", "follower"} {
			t.Run(name+" on the "+role, func(t *testing.T) {
				t.Parallel()
				testBrokenDisk(t, role == "leader", f.fault, f.err)
			})
		}
	}
}

func testBrokenDisk(t *testing.T, onLeader bool, fault func() error, want string) {
	disks := map[string]*faultyDisk{"n1": newFaultyDisk(), "n2": newFaultyDisk(), "n3": newFaultyDisk()}
	c := newClusterWith(t, 3, func(cfg *node.Config) {
		cfg.Dir, cfg.Storage = "", disks[cfg.ID]
		cfg.DiskTimeout = 3 * time.Second
	})
	ctx := within(t, 60*time.Second)
	leader := c.leader()
	broken := leader
	if !onLeader {
		broken = c.others(leader)[0]
	}
	other := c.others(broken)[0]
	disks[broken.Status().ID].break_(fault)

	// Every write gets an answer at a node that works, while and after the
	// cluster finds out.
	for i := range 20 {
		key := string(rune('a' + i))
		g, err := acquire(ctx, other, key, "o", "1", time.Minute, 0)
		if err != nil {
			t.Fatalf("acquire %s: %v", key, err)
		}
		if _, err := renew(ctx, other, key, "o", g.Record.Epoch, time.Minute); err != nil {
			t.Fatalf("renew %s: %v", key, err)
		}
	}
	select {
	case <-broken.Done():
	case <-ctx.Done():
		t.Fatal("the node with the broken disk does not stop")
	}
	if err := broken.Err(); !strings.Contains(err.Error(), want) {
		t.Errorf("Err says %q, want %q in it", err, want)
	}
	start := time.Now()
	broken.Close()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Close took %v", took)
	}
}
