package storage

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// A call that hangs makes the node silent after StallAfter, and no sooner, and
// fails it after FailAfter.
func TestHangingCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuarded(t, Memory())
		free := make(chan struct{})
		g.faults.on("StoreLogs", func() error { <-free; return nil })
		stored := make(chan error, 1)
		go func() { stored <- g.ForNode().Log.StoreLog(command(1, 1)) }()

		time.Sleep(DefaultStallAfter - time.Millisecond)
		if g.Stalled() {
			t.Error("it stalled early")
		}
		time.Sleep(2 * time.Millisecond)
		if !g.Stalled() {
			t.Error("it did not stall")
		}
		time.Sleep(DefaultFailAfter - DefaultStallAfter - 10*time.Millisecond)
		if g.Err() != nil {
			t.Errorf("it failed early: %v", g.Err())
		}
		time.Sleep(20 * time.Millisecond)
		var failed *FailedError
		if err := <-g.fails; !errors.As(err, &failed) || failed.Op != "storing entries" {
			t.Errorf("it failed with %v", err)
		}
		close(free)
		if err := <-stored; !errors.As(err, &failed) {
			t.Errorf("what came too late was acknowledged: %v", err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A stall ends when its call returns, also with others behind it, each of which
// is judged by its own age.
func TestStallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuarded(t, Memory())
		free := make(chan struct{})
		g.faults.on("StoreLogs", func() error { <-free; return nil })
		again := make(chan struct{})
		g.faults.on("Set", func() error { <-again; return nil })
		go g.ForNode().Log.StoreLog(command(1, 1))
		time.Sleep(2 * DefaultStallAfter)
		go g.ForNode().Stable.Set([]byte("k"), []byte("v"))
		time.Sleep(DefaultStallAfter / 2)
		close(free)
		synctest.Wait()
		if g.Stalled() {
			t.Error("the stall did not end with its call")
		}
		time.Sleep(DefaultStallAfter/2 - time.Millisecond)
		if g.Stalled() {
			t.Error("the next call stalled before its time")
		}
		time.Sleep(2 * time.Millisecond)
		if !g.Stalled() {
			t.Error("the next call did not stall")
		}
		time.Sleep(DefaultFailAfter)
		if g.Err() == nil {
			t.Error("the next call did not fail")
		}
		close(again)
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The call behind a stalled one may be due the moment the stalled one returns.
func TestFailureOfTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuarded(t, Memory())
		first, second := make(chan struct{}), make(chan struct{})
		g.faults.on("StoreLogs", func() error { <-first; return nil })
		g.faults.on("Set", func() error { <-second; return nil })
		go g.ForNode().Log.StoreLog(command(1, 1))
		go g.ForNode().Stable.Set([]byte("k"), []byte("v"))
		time.Sleep(DefaultFailAfter - time.Millisecond)
		close(first)
		time.Sleep(2 * time.Millisecond)
		if g.Err() == nil {
			t.Error("the call that hangs on did not fail")
		}
		close(second)
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Many quick calls never stall, however long they go on.
func TestQuickCallsNeverStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuarded(t, Memory())
		g.faults.on("StoreLogs", func() error { time.Sleep(DefaultStallAfter * 9 / 10); return nil })
		var stalls atomic.Int32
		for i := range uint64(100) {
			if err := g.ForNode().Log.StoreLog(command(i+1, 1)); err != nil {
				t.Fatal(err)
			}
			if g.Stalled() {
				stalls.Add(1)
			}
		}
		if stalls.Load() != 0 || g.Err() != nil {
			t.Errorf("%d stalls, failed %v", stalls.Load(), g.Err())
		}
		if stats := g.WriteStats(); stats.Writes != 100 || stats.Entries != 100 ||
			stats.Longest != DefaultStallAfter*9/10 || stats.Total != 90*DefaultStallAfter {
			t.Errorf("statistics: %+v", stats)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A snapshot that takes long to write is no stall, but may not take for ever.
func TestSlowSnapshotIsNoStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuarded(t, Memory())
		sink, err := g.ForNode().Snapshots.Create(1, 1, 1, raft.Configuration{}, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		free := make(chan struct{})
		g.faults.on("sink.Close", func() error { <-free; return nil })
		go sink.Close()
		time.Sleep(DefaultFailAfter - time.Millisecond)
		if g.Stalled() || g.Err() != nil {
			t.Errorf("stalled %v, failed %v", g.Stalled(), g.Err())
		}
		time.Sleep(2 * time.Millisecond)
		if g.Err() == nil {
			t.Error("it hangs and did not fail")
		}
		close(free)
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
}
