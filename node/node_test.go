package node_test

import (
	"errors"
	"testing"
	"time"

	"example.com/tenure"
)

// The thin path: acquire and renew through any node, kill the leader, and the
// tenure goes on; once it expires another owner takes the key over at a higher
// epoch.
func TestTenureSurvivesItsLeader(t *testing.T) {
	c := newCluster(t, 3)
	ctx := within(t, 30*time.Second)
	leader := c.leader()
	follower := c.others(leader)[0]
	const ttl = time.Second
	g, err := acquire(ctx, follower, "k", "a", "1", ttl, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := acquire(ctx, leader, "k", "b", "1", ttl, 0); !errors.Is(err, tenure.ErrHeld) {
		t.Fatalf("a second owner got %v, want held", err)
	}
	leader.Close()
	renewed, err := renew(ctx, follower, "k", "a", g.Record.Epoch, ttl)
	if err != nil || renewed.Record.Epoch != g.Record.Epoch || renewed.Index <= g.Index {
		t.Fatalf("renewed to %+v, %v", renewed, err)
	}
	start := time.Now()
	taken, err := acquire(ctx, follower, "k", "b", "2", ttl, 10*time.Second)
	if err != nil || taken.Record.Epoch <= g.Record.Epoch {
		t.Fatalf("taken over to %+v, %v", taken, err)
	}
	t.Logf("taken over %v after the last renewal's answer, with a TTL of %v", time.Since(start), ttl)
	if _, err := renew(ctx, follower, "k", "a", g.Record.Epoch, ttl); !errors.Is(err, tenure.ErrLost) {
		t.Errorf("the former owner's renewal got %v, want lost", err)
	}
	view, err := follower.Get(ctx, "k")
	if err != nil || view.Record.Owner != "b" || !view.Record.Held {
		t.Errorf("Get says %+v, %v", view, err)
	}
}
