package node_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/node"
)

// A client without a node finds the leader, shares one connection between its
// callers, and goes on when the leader changes.
func TestClientFollowsTheLeader(t *testing.T) {
	c := newCluster(t, 3)
	var addrs []string
	for _, p := range c.peers {
		addrs = append(addrs, p.Addr)
	}
	client, err := node.Dial(node.ClientConfig{Addrs: addrs})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx := within(t, 30*time.Second)
	for round := range 3 {
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				key := fmt.Sprint("k", round, "-", i)
				g, err := acquire(ctx, client, key, "a", "1", time.Minute, 0)
				if err == nil {
					err = release(ctx, client, key, "a", g.Record.Epoch)
				}
				if err != nil {
					t.Errorf("%s: %v", key, err)
				}
			})
		}
		wg.Wait()
		if round < 2 {
			leader := c.leader()
			if err := leader.Transfer(ctx, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	view, err := client.Get(ctx, "k0-0")
	if err != nil || view.Record.Held || view.Record.Epoch != 1 {
		t.Errorf("Get says %+v, %v", view, err)
	}
}

// A waiter keeps waiting through a change of leader, and is granted once the
// key is free.
func TestWaitersSurviveAChangeOfLeader(t *testing.T) {
	c := newCluster(t, 3)
	ctx := within(t, 30*time.Second)
	leader := c.leader()
	others := c.others(leader)
	g, err := acquire(ctx, others[0], "k", "a", "1", time.Minute, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() {
		taken, err := acquire(ctx, others[1], "k", "b", "1", time.Minute, 20*time.Second)
		if err == nil && taken.Record.Epoch != g.Record.Epoch+1 {
			err = fmt.Errorf("granted at epoch %d", taken.Record.Epoch)
		}
		got <- err
	}()
	for leader.Status().Waiting == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	leader.Close()
	for c.leader().Status().Waiting == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	if err := release(ctx, others[0], "k", "a", g.Record.Epoch); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// A restarted cluster gives a running lease its full TTL, and admits nobody
// earlier.
func TestRestartedClusterAdmitsNobodyEarly(t *testing.T) {
	c := newCluster(t, 3)
	ctx := within(t, 60*time.Second)
	const ttl = 3 * time.Second
	g, err := acquire(ctx, c.leader(), "k", "a", "1", ttl, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range c.peers {
		c.nodes[p.ID].Close()
	}
	reopened := time.Now()
	for _, p := range c.peers {
		c.open(p.ID)
	}
	c.ready()
	if _, err := acquire(ctx, c.leader(), "k", "b", "1", ttl, 0); !errors.Is(err, tenure.ErrHeld) {
		t.Fatalf("right after the restart the key is %v, want held", err)
	}
	taken, err := acquire(ctx, c.leader(), "k", "b", "2", ttl, 20*time.Second)
	if err != nil || taken.Record.Epoch != g.Record.Epoch+1 {
		t.Fatalf("taken over to %+v, %v", taken, err)
	}
	if waited := time.Since(reopened); waited < ttl {
		t.Errorf("taken over %v after the restart, with a TTL of %v", waited, ttl)
	}
}

// A node joins, catches up and votes; a removed one finds out and stops.
func TestJoinAndRemove(t *testing.T) {
	c := newCluster(t, 3)
	ctx := within(t, 60*time.Second)
	for i := range 20 {
		if _, err := acquire(ctx, c.leader(), fmt.Sprint("k", i), "a", "1", time.Minute, 0); err != nil {
			t.Fatal(err)
		}
	}
	c.dirs["n4"] = t.TempDir()
	c.change = func(cfg *node.Config) {
		if cfg.ID == "n4" {
			cfg.Peers, cfg.Join, cfg.Listen = nil, c.peers[0].Addr, "127.0.0.1:0"
		}
	}
	joined := c.open("n4")
	if err := joined.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	for len(voters(t, c.leader())) != 4 {
		time.Sleep(10 * time.Millisecond)
	}
	view, err := joined.Get(ctx, "k19")
	if err != nil || view.Record.Owner != "a" {
		t.Errorf("the joined node says %+v, %v", view, err)
	}
	if err := joined.Remove(ctx, "n4"); err != nil {
		t.Fatal(err)
	}
	var invalid *tenure.InvalidError
	if err := c.nodes["n1"].Remove(ctx, "n4"); !errors.As(err, &invalid) || !strings.Contains(err.Error(), `"n4"`) || !strings.Contains(err.Error(), "n1, n2, n3") {
		t.Errorf("removing it again: %v, want that the members are others", err)
	}
	select {
	case <-joined.Done():
		if !errors.Is(joined.Err(), node.ErrRemoved) {
			t.Errorf("the removed node stopped with %v", joined.Err())
		}
	case <-ctx.Done():
		t.Error("the removed node does not find out")
	}
	if len(voters(t, c.leader())) != 3 {
		t.Error("the removed node is still a voter")
	}
	joined.Close()
	if _, err := node.Open(ctx, c.config("n4")); !errors.Is(err, node.ErrRemoved) {
		t.Errorf("opening it again: %v, want that it was removed", err)
	}
}

func voters(t *testing.T, n *node.Node) (ids []string) {
	members, err := n.Members(within(t, 10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		if m.Voter {
			ids = append(ids, m.ID)
		}
	}
	return ids
}
