package node_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"example.com/tenure/node"
)

// Nodes that start from a snapshot on a disk, and from what the log has behind
// it, know everything that was acknowledged, time and again.
func TestRestartFromSnapshots(t *testing.T) {
	c := newClusterWith(t, 3, func(cfg *node.Config) { cfg.SnapshotThreshold = 10 })
	epochs := make(map[string]uint64)
	for life := range 3 {
		ctx := within(t, 60*time.Second)
		for i := range 30 {
			key := fmt.Sprintf("%d/%d", life, i)
			g, err := acquire(ctx, c.leader(), key, "o", "1", time.Hour, 0)
			if err != nil {
				t.Fatal(err)
			}
			epochs[key] = g.Record.Epoch
		}
		for id, dir := range c.dirs {
			for newest := newestSnapshot(t, dir); newest == ""; newest = newestSnapshot(t, dir) {
				if ctx.Err() != nil {
					t.Fatalf("%s took no snapshot", id)
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
		for id, n := range c.nodes {
			if err := n.Close(); err != nil {
				t.Errorf("close %s: %v", id, err)
			}
		}
		for id := range c.dirs {
			c.open(id)
		}
		c.ready()
		for id, n := range c.nodes {
			for key, epoch := range epochs {
				if v, err := n.Get(ctx, key); err != nil || !v.Record.Held || v.Record.Epoch != epoch {
					t.Fatalf("%s after restart %d, %s: %+v, %v; want epoch %d, held", id, life+1, key, v, err, epoch)
				}
			}
		}
	}
}

// newestSnapshot returns the folder of the newest snapshot that is complete, ""
// for none.
func newestSnapshot(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "snapshots", "*-*", "state.bin"))
	if err != nil {
		t.Fatal(err)
	}
	newest := ""
	for _, path := range found {
		if filepath.Ext(filepath.Dir(path)) != ".tmp" {
			if dir := filepath.Dir(path); indexOf(t, dir) > indexOf(t, newest) {
				newest = dir
			}
		}
	}
	return newest
}

// A follower that was away until the leader's log begins behind its own gets a
// snapshot, onto its disk, and starts from that as well.
func TestSnapshotReachesAFollower(t *testing.T) {
	c := newClusterWith(t, 3, func(cfg *node.Config) { cfg.SnapshotThreshold = 10 })
	ctx := within(t, 60*time.Second)
	away := c.others(c.leader())[0].Status().ID
	if err := c.nodes[away].Close(); err != nil {
		t.Fatal(err)
	}
	before := newestSnapshot(t, c.dirs[away])
	leader := c.leader()
	epochs := make(map[string]uint64)
	// The log keeps 64 entries behind a snapshot.
	for i := 0; indexOf(t, newestSnapshot(t, c.dirs[leader.Status().ID])) < 200; i++ {
		key := fmt.Sprint(i)
		g, err := acquire(ctx, leader, key, "o", "1", time.Hour, 0)
		if err != nil {
			t.Fatal(err)
		}
		epochs[key] = g.Record.Epoch
	}
	for life := range 2 {
		n := c.open(away)
		if err := n.WaitReady(ctx); err != nil {
			t.Fatalf("life %d: %v", life, err)
		}
		for key, epoch := range epochs {
			if v, err := n.Get(ctx, key); err != nil || !v.Record.Held || v.Record.Epoch != epoch {
				t.Fatalf("life %d, %s: %+v, %v; want epoch %d, held", life, key, v, err, epoch)
			}
		}
		if err := n.Close(); err != nil {
			t.Errorf("life %d: %v", life, err)
		}
	}
	if newestSnapshot(t, c.dirs[away]) == before {
		t.Error("the follower has no other snapshot on its disk")
	}
}

// indexOf returns the log index that a snapshot's folder has in its name, 0 for
// none.
func indexOf(t *testing.T, dir string) (index uint64) {
	t.Helper()
	if dir == "" {
		return 0
	}
	var term, at uint64
	if _, err := fmt.Sscanf(filepath.Base(dir), "%d-%d-%d", &term, &index, &at); err != nil {
		t.Fatalf("snapshot %s: %v", dir, err)
	}
	return index
}
