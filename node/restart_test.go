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

// newestSnapshot returns the folder of the newest snapshot that is complete.
func newestSnapshot(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "snapshots", "*-*", "state.bin"))
	if err != nil {
		t.Fatal(err)
	}
	newest := ""
	for _, path := range found {
		if filepath.Ext(filepath.Dir(path)) != ".tmp" {
			newest = max(newest, filepath.Dir(path))
		}
	}
	return newest
}
