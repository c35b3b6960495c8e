package storage

import (
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// These tests show with real Rafts what a broken disk does to a cluster: it
// stops one node, tells why, and nothing else. Each runs in virtual time, and
// its bubble ends only if no goroutine is left.

// breakage is a way in which a disk breaks.
type breakage struct {
	name string
	call string
	rule func(free <-chan struct{}) func() error
}

func failing(err error) func(<-chan struct{}) func() error {
	return func(<-chan struct{}) func() error { return func() error { return err } }
}

func panicking(<-chan struct{}) func() error {
	return func() error { panic("a page is not what it was") }
}

func hanging(free <-chan struct{}) func() error {
	return func() error { <-free; return nil }
}

// breakages are the ways to break a disk. The system may know more.
var breakages = []breakage{
	{"write error", "StoreLogs", failing(syscall.EIO)},
	{"full", "StoreLogs", failing(syscall.ENOSPC)},
	{"panic", "StoreLogs", panicking},
	{"hang", "StoreLogs", hanging},
	{"read error", "GetLog", failing(syscall.EIO)},
	{"read panic", "GetLog", panicking},
	{"read hang", "GetLog", hanging},
	{"last index", "LastIndex", failing(syscall.EIO)},
}

func TestLeaderDiskBreaks(t *testing.T) {
	for _, b := range breakages {
		t.Run(b.name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { leaderBreaks(t, b) }) })
	}
}

func leaderBreaks(t *testing.T, b breakage) {
	c := newCluster(t, 3)
	old := c.leader()
	if err := old.apply(); err != nil {
		t.Fatal(err)
	}
	free := make(chan struct{})
	old.faults.on(b.call, b.rule(free))
	if err := old.apply(); err == nil {
		t.Error("a command was acknowledged by the broken disk")
	}
	broke := time.Now()
	leader := c.leader()
	if leader == old {
		t.Fatal("the broken node leads on")
	}
	if took := time.Since(broke); took > 5*time.Second {
		t.Errorf("it took %v until another node led", took)
	}
	if err := leader.apply(); err != nil {
		t.Errorf("the others do not go on: %v", err)
	}
	expectFailure(t, old)
	close(free)
	c.stop()
}

// expectFailure waits until the node's stores have failed, and for some time more
// in which they must not fail again.
func expectFailure(t *testing.T, n *clusterNode) {
	t.Helper()
	var failed *FailedError
	select {
	case err := <-n.failed:
		if !errors.As(err, &failed) || failed.Name != "memory" || n.guard.Err() != err {
			t.Errorf("failed with %v, Err is %v", err, n.guard.Err())
		}
	case <-time.After(30 * time.Second):
		t.Error("the failure was not reported")
	}
	if !n.guard.Stalled() {
		t.Error("a failed node is not silent")
	}
	time.Sleep(10 * time.Second)
	if fails := n.fails.Load(); fails != 1 {
		t.Errorf("Fail was called %d times", fails)
	}
}

func TestFollowerDiskBreaks(t *testing.T) {
	for _, b := range breakages {
		if b.call == "GetLog" {
			continue // which a follower that is up to date does not call
		}
		t.Run(b.name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { followerBreaks(t, b) }) })
	}
}

func followerBreaks(t *testing.T, b breakage) {
	c := newCluster(t, 3)
	leader, broken := c.leader(), c.follower()
	if err := leader.apply(); err != nil {
		t.Fatal(err)
	}
	term := leader.raft.CurrentTerm()
	free := make(chan struct{})
	broken.faults.on(b.call, b.rule(free))
	for range 3 {
		if err := leader.apply(); err != nil {
			t.Errorf("the others do not go on: %v", err)
		}
	}
	expectFailure(t, broken)
	if now := c.leader(); now != leader || leader.raft.CurrentTerm() != term {
		t.Errorf("leadership moved from %s in term %d to %s in term %d", leader.id, term, now.id, now.raft.CurrentTerm())
	}
	close(free)
	c.stop()
}

// A vote that can't be stored is no vote, and ends the node instead of its
// host.
func TestVoteCantBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3)
		old := c.leader()
		var broken *clusterNode
		for _, n := range c.nodes {
			if n != old {
				broken = n
			}
		}
		broken.faults.on("Set", func() error { return syscall.EIO })
		old.trans.DisconnectAll()
		for _, n := range c.nodes {
			n.trans.Disconnect(raft.ServerAddress(old.id))
		}
		expectFailure(t, broken)
		c.stop()
	})
}

// A stall that ends is no failure: the node was silent, another leads, and the
// node goes on as a follower.
func TestLeaderDiskStallsForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3)
		old := c.leader()
		free := make(chan struct{})
		old.faults.on("StoreLogs", func() error { <-free; return nil })
		old.raft.Apply(testEntry(1), time.Second)
		time.Sleep(5 * time.Second)
		leader := c.leader()
		if leader == old {
			t.Fatal("the stalled node leads on")
		}
		close(free)
		time.Sleep(5 * time.Second)
		if err := leader.apply(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if old.guard.Stalled() || old.guard.Err() != nil || old.raft.State() != raft.Follower {
			t.Errorf("after its stall: stalled %v, failed %v, %v", old.guard.Stalled(), old.guard.Err(), old.raft.State())
		}
		if got, want := old.sm.count(), leader.sm.count(); got != want {
			t.Errorf("it applied %d commands, the leader %d", got, want)
		}
		c.stop()
	})
}

// Whatever breaks while NewRaft runs, the goroutine that opens the node lives.
func TestDiskBreaksDuringNewRaft(t *testing.T) {
	for _, call := range []string{"FirstIndex", "LastIndex", "GetLog", "Get", "Set", "List", "Open", "source.Read"} {
		for _, how := range []breakage{{"error", call, failing(syscall.EIO)}, {"panic", call, panicking}} {
			t.Run(call+" "+how.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newCluster(t, 1)
					n := c.nodes[0]
					prepareSnapshotAndTail(t, c)
					n.stop()
					n.open()
					if err := n.guard.Check(); err != nil {
						t.Fatal(err)
					}
					n.faults.on(call, how.rule(nil))
					s := n.guard.ForRaft()
					var err error
					ended := <-Go(func() {
						n.raft, err = raft.NewRaft(n.config(), n.sm, s.Log, s.Stable, s.Snapshots, n.trans)
					})
					if call == "FirstIndex" { // which NewRaft does not call
						if ended != nil || err != nil {
							t.Errorf("NewRaft: %v, %v", ended, err)
						}
					} else if ended == nil && err == nil {
						t.Error("NewRaft succeeded")
					} else if n.guard.Err() == nil {
						t.Error("the failure was not noticed")
					}
					n.stop()
				})
			})
		}
	}
}

// prepareSnapshotAndTail leaves a snapshot and some entries after it.
func prepareSnapshotAndTail(t *testing.T, c *cluster) {
	t.Helper()
	leader := c.leader()
	for range 20 {
		if err := leader.apply(); err != nil {
			t.Fatal(err)
		}
	}
	if err := leader.raft.Snapshot().Error(); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := leader.apply(); err != nil {
			t.Fatal(err)
		}
	}
}

// A snapshot that can't be written fails the node, and Raft goes on to its end.
func TestSnapshotCantBeWritten(t *testing.T) {
	for _, call := range []string{"Create", "sink.Write", "sink.Close", "DeleteRange"} {
		t.Run(call, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, 3)
				leader := c.leader()
				for range 20 {
					if err := leader.apply(); err != nil {
						t.Fatal(err)
					}
				}
				leader.faults.on(call, func() error { return syscall.ENOSPC })
				leader.raft.Snapshot() // whose answer may never come
				expectFailure(t, leader)
				if c.leader() == leader {
					t.Error("the failed node leads on")
				}
				c.stop()
			})
		})
	}
}

// A follower that can't write or read the leader's snapshot fails; a whole one
// installs it, and has no hole in its log after.
func TestInstallSnapshot(t *testing.T) {
	for _, call := range []string{"", "Create", "sink.Write", "sink.Close", "Open", "source.Read", "DeleteRange"} {
		t.Run(call, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { installs(t, call) }) })
	}
}

func installs(t *testing.T, call string) {
	c := newCluster(t, 3)
	leader, behind := c.leader(), c.follower()
	if err := leader.apply(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	behind.stop()
	prepareSnapshotAndTail(t, c)
	behind.open()
	if call != "" {
		behind.faults.on(call, func() error { return syscall.EIO })
	}
	if err := behind.start(); err != nil {
		t.Fatal(err)
	}
	c.connect()
	if call != "" {
		expectFailure(t, behind)
		c.stop()
		return
	}
	time.Sleep(5 * time.Second)
	if got, want := behind.sm.count(), leader.sm.count(); got != want || behind.guard.Err() != nil {
		t.Errorf("it applied %d commands, the leader %d; failed: %v", got, want, behind.guard.Err())
	}
	behind.stop()
	behind.open()
	if err := behind.guard.Check(); err != nil {
		t.Error(err)
	}
	c.stop()
}

// Damaged entries that a peer sends are refused, whatever it sends, and the
// node goes on.
func TestDamagedEntryFromLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3)
		leader, follower := c.leader(), c.follower()
		if err := leader.apply(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		last, err := follower.guard.ForNode().Log.LastIndex()
		if err != nil {
			t.Fatal(err)
		}
		entry := &raft.Log{Index: last + 1, Term: leader.raft.CurrentTerm(), Type: raft.LogCommand, Data: testEntry(7)}
		sealEntry(entry)
		entry.Data[0] ^= 1
		req := &raft.AppendEntriesRequest{
			RPCHeader:    raft.RPCHeader{ProtocolVersion: 3, ID: []byte(leader.id), Addr: []byte(leader.id)},
			Term:         leader.raft.CurrentTerm(),
			PrevLogEntry: last,
			PrevLogTerm:  leader.raft.CurrentTerm(),
			Entries:      []*raft.Log{entry},
		}
		var resp raft.AppendEntriesResponse
		if err := leader.trans.InmemTransport.AppendEntries("", raft.ServerAddress(follower.id), req, &resp); err != nil || resp.Success {
			t.Errorf("answer %v, success %v", err, resp.Success)
		}
		if follower.guard.Err() != nil {
			t.Errorf("the follower failed: %v", follower.guard.Err())
		}
		if err := leader.apply(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if got, want := follower.sm.count(), leader.sm.count(); got != want {
			t.Errorf("it applied %d commands, the leader %d", got, want)
		}
		c.stop()
	})
}
