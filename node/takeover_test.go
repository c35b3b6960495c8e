package node_test

import (
	"errors"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
	"example.com/tenure/node"
)

// Holder and leader die in one instant. Another replica owns the key within the
// TTL plus the election, and never before the dead holder's fence.
func TestFailoverTakesNoLeaseHostage(t *testing.T) {
	plugs := map[string]*plug{"n1": newPlug(), "n2": newPlug(), "n3": newPlug()}
	c := newClusterWith(t, 3, func(cfg *node.Config) { cfg.Network = plugs[cfg.ID] })
	ctx := within(t, 60*time.Second)
	leader := c.leader()
	const ttl, margin = 5 * time.Second, 500 * time.Millisecond
	dying, err := holder.New(holder.Config{Store: leader, Replica: "dying", TTL: ttl, Margin: margin})
	if err != nil {
		t.Fatal(err)
	}
	lease, err := dying.Acquire(ctx, "k")
	if err != nil {
		t.Fatal(err)
	}
	other := c.others(leader)[0]
	heir, err := holder.New(holder.Config{Store: other, Replica: "heir", TTL: ttl, Margin: margin})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = heir.Close(within(t, 10*time.Second)); _ = dying.Close(within(t, time.Millisecond)) })

	plugs[leader.Status().ID].pull()
	killed := time.Now()
	// The dead holder's process is still there to tell us its fence.
	var fenced time.Time
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		for lease.AssertHeld() == nil {
			time.Sleep(time.Millisecond)
		}
		fenced = time.Now()
	}()
	taken, err := heir.AcquireWait(ctx, "k")
	if err != nil {
		t.Fatal(err)
	}
	owned := time.Now()
	<-watching
	t.Logf("fenced %v and owned anew %v after the kill, with a TTL of %v", fenced.Sub(killed), owned.Sub(killed), ttl)
	if owned.Before(fenced) {
		t.Errorf("owned anew %v before the dead holder's fence", fenced.Sub(owned))
	}
	if taken.Epoch() != lease.Epoch()+1 {
		t.Errorf("taken over at epoch %d after %d", taken.Epoch(), lease.Epoch())
	}
	// Generous for a busy machine: an election takes a fraction of this.
	if took := owned.Sub(killed); took > ttl+5*time.Second {
		t.Errorf("owned anew only %v after the kill", took)
	}
}

// What a leader that was cut off says is never held or lost: it can't know.
func TestLeaderThatWasCutOffKnowsNothing(t *testing.T) {
	plugs := map[string]*plug{"n1": newPlug(), "n2": newPlug(), "n3": newPlug()}
	c := newClusterWith(t, 3, func(cfg *node.Config) { cfg.Network = plugs[cfg.ID] })
	ctx := within(t, 60*time.Second)
	leader := c.leader()
	if _, err := acquire(ctx, leader, "k", "a", "1", time.Minute, 0); err != nil {
		t.Fatal(err)
	}
	plugs[leader.Status().ID].pull()
	short := within(t, 2*time.Second)
	_, err := acquire(short, leader, "k", "b", "1", time.Minute, 0)
	if !errors.Is(err, tenure.ErrUnavailable) {
		t.Errorf("acquire at the old leader: %v, want unavailable", err)
	}
	if _, err := leader.Get(within(t, time.Second), "k"); !errors.Is(err, tenure.ErrUnavailable) {
		t.Errorf("Get at the old leader: %v, want unavailable", err)
	}
	if o := leader.Owner("k"); o.Owner != "a" || o.Age < time.Second {
		t.Errorf("the local lookup says %+v, want the owner and that the answer may be old", o)
	}
}
