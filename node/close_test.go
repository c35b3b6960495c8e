package node_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/tenure"
	"example.com/tenure/node"
)

// Close at any moment, with calls and waiters under way: all of them are
// answered, the port and the folder are free again, and nothing is left behind.
func TestCloseLeavesNothingBehind(t *testing.T) {
	leak := goleak.IgnoreCurrent()
	t.Run("close", func(t *testing.T) {
		c := newCluster(t, 3)
		ctx := within(t, 60*time.Second)
		if _, err := acquire(ctx, c.leader(), "held", "o", "1", time.Minute, 0); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		calls, end := context.WithCancel(ctx)
		for i, n := range c.others(nil) {
			for j := range 30 {
				wg.Go(func() {
					for k := 0; calls.Err() == nil && n.Err() == nil; k++ {
						key := fmt.Sprint(i, "/", j, "/", k)
						call, stop := context.WithTimeout(calls, time.Second)
						if g, err := acquire(call, n, key, "o", "1", time.Minute, 0); err == nil {
							_ = release(call, n, key, "o", g.Record.Epoch)
						}
						stop()
					}
				})
			}
			wg.Go(func() { _, _ = acquire(calls, n, "held", "w", "1", time.Minute, time.Hour) })
		}
		time.Sleep(300 * time.Millisecond)
		for _, n := range c.others(nil) {
			wg.Go(func() {
				start := time.Now()
				if err := n.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("Close took %v", took)
				}
				if err := n.Close(); err != nil {
					t.Errorf("second Close: %v", err)
				}
				if !errors.Is(n.Err(), node.ErrClosed) {
					t.Errorf("Err after Close: %v", n.Err())
				}
				if _, err := acquire(ctx, n, "late", "o", "1", time.Minute, 0); err == nil {
					t.Error("a closed node granted")
				}
			})
			time.Sleep(50 * time.Millisecond)
		}
		time.AfterFunc(6*time.Second, end)
		wg.Wait()
		end()
		for _, p := range c.peers {
			c.open(p.ID) // the port and the folder are free
		}
		c.ready()
	})
	goleak.VerifyNone(t, leak)
}

// A closing leader hands over: nobody waits for an election.
func TestCloseHandsLeadershipOver(t *testing.T) {
	c := newClusterWith(t, 3, func(cfg *node.Config) { cfg.ElectionTimeout = 3 * time.Second })
	ctx := within(t, 60*time.Second)
	leader := c.leader()
	other := c.others(leader)[0]
	start := time.Now()
	leader.Close()
	if _, err := acquire(ctx, other, "k", "o", "1", time.Minute, 0); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 2900*time.Millisecond {
		t.Errorf("the cluster was without a leader for %v: the election timeout of 3s had to pass", took)
	}
}

// Waiting for a call on a closed or leaderless node ends with its context, and
// says what it waited for.
func TestCallsEndWithTheirContext(t *testing.T) {
	peers := []node.Peer{{ID: "n1", Addr: freeAddr(t)}, {ID: "n2", Addr: freeAddr(t)}}
	n, err := node.Open(context.Background(), node.Config{ID: "n1", Listen: peers[0].Addr, Peers: peers, Storage: node.MemoryStorage()})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err = acquire(ctx, n, "k", "o", "1", time.Minute, 0)
	var u *tenure.UnavailableError
	if !errors.As(err, &u) || u.MaybeApplied || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("acquire: %v, want unavailable, not applied, deadline exceeded", err)
	}
	if err := n.WaitReady(ctx); err == nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("WaitReady: %v", err)
	} else if text := err.Error(); !strings.Contains(text, "n2") || strings.Count(text, "unavailable") > 1 {
		t.Errorf("WaitReady says %q, want who is missing, in one sentence", text)
	}
	if text := n.Status().WaitsFor; !strings.HasPrefix(text, "the cluster is not founded: n2 at "+peers[1].Addr+" does not answer: ") {
		t.Errorf("the status says it waits for %q, want who is missing", text)
	}
	if _, err := n.Get(ctx, "k"); !errors.Is(err, tenure.ErrUnavailable) {
		t.Errorf("Get: %v", err)
	}
}

// Raft never answers a transfer that its main loop does not get to, because a
// write of its log never returns. Nobody may be left waiting for it.
func TestTransferAtABrokenDiskLeavesNothingBehind(t *testing.T) {
	leak := goleak.IgnoreCurrent()
	t.Run("close", func(t *testing.T) {
		hang := make(chan struct{})
		disks := map[string]*faultyDisk{"n1": newFaultyDisk(), "n2": newFaultyDisk(), "n3": newFaultyDisk()}
		c := newClusterWith(t, 3, func(cfg *node.Config) { cfg.Dir, cfg.Storage = "", disks[cfg.ID] })
		leader := c.leader()
		disks[leader.Status().ID].break_(func() error { <-hang; return errors.New("too late") })
		stuck, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err := acquire(stuck, leader, "k", "o", "1", time.Minute, 0)
		stop()
		if !errors.Is(err, tenure.ErrUnavailable) {
			t.Fatalf("an acquire at a leader whose disk hangs: %v", err)
		}
		if err := leader.Transfer(within(t, 10*time.Second), ""); err == nil && c.leader() == leader {
			t.Error("a transfer that did not happen was told as done")
		}
		leader.Close()
		close(hang)
	})
	goleak.VerifyNone(t, leak)
}
