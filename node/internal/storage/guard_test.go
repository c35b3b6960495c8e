package storage

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/tenure"
)

// guarded is a guard over a storage that can be made to fail.
type guarded struct {
	*Guarded
	faults *faults
	fails  chan error
}

func newGuarded(t *testing.T, storage Storage) *guarded {
	t.Helper()
	g := &guarded{faults: &faults{}, fails: make(chan error, 10)}
	stores, err := faulty{storage, g.faults}.Open(hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	g.Guarded = Guard(stores, GuardConfig{
		Clock:      tenure.MonotonicClock(),
		CheckEntry: checkTestEntry,
		Fail:       func(err error) { g.fails <- err },
	})
	return g
}

func command(index, term uint64) *raft.Log {
	return &raft.Log{Index: index, Term: term, Type: raft.LogCommand, Data: testEntry(int64(index))}
}

func commands(from, to, term uint64) []*raft.Log {
	var logs []*raft.Log
	for i := from; i <= to; i++ {
		logs = append(logs, command(i, term))
	}
	return logs
}

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

// Close returns though a call hangs, and closes the stores once it returns.
func TestCloseWhileACallHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := Memory()
		g := newGuarded(t, storage)
		free := make(chan struct{})
		g.faults.on("StoreLogs", func() error { <-free; return nil })
		go g.ForNode().Log.StoreLog(command(1, 1))
		synctest.Wait()
		began := time.Now()
		err := g.Close()
		if err == nil || !strings.Contains(err.Error(), "hangs") {
			t.Errorf("Close: %v", err)
		}
		if took := time.Since(began); took > 2*closeWait {
			t.Errorf("Close took %v", took)
		}
		if _, err := storage.Open(nil); err == nil {
			t.Error("the stores were closed under a call")
		}
		close(free)
		synctest.Wait()
		if _, err := storage.Open(nil); err != nil {
			t.Errorf("the stores were not closed after the call: %v", err)
		}
		if err := g.Close(); !errors.Is(err, ErrClosed) {
			t.Errorf("a second Close: %v", err)
		}
		if len(g.fails) != 0 {
			t.Errorf("after Close it failed: %v", <-g.fails)
		}
	})
}

// After the first failure nothing is called any more, Fail is not called again,
// and Raft's goroutines end at their next call.
func TestNothingIsWrittenAfterAFailure(t *testing.T) {
	g := newGuarded(t, Memory())
	g.faults.on("StoreLogs", func() error { return syscall.ENOSPC })
	if err := g.ForNode().Log.StoreLog(command(1, 1)); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("StoreLog: %v", err)
	}
	var calls atomic.Int32
	counting := func() error { calls.Add(1); return nil }
	for _, name := range []string{"FirstIndex", "LastIndex", "GetLog", "StoreLogs", "DeleteRange", "Get", "Set", "Create", "List", "Open"} {
		g.faults.on(name, counting)
	}
	for name, call := range everyCall(g.ForNode()) {
		if err := call(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s for the node: %v", name, err)
		}
	}
	for name, call := range everyCall(g.ForRaft()) {
		returned := false
		ended := <-Go(func() {
			call()
			returned = true
		})
		if wantReturn := name == "Create" || name == "List"; returned != wantReturn || (ended == nil) != wantReturn {
			t.Errorf("%s for Raft: returned %v, ended %v", name, returned, ended)
		}
	}
	if calls.Load() != 0 || len(g.fails) != 1 {
		t.Errorf("%d calls came through, %d failures were told", calls.Load(), len(g.fails))
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// everyCall is one call of each method of the stores.
func everyCall(s Stores) map[string]func() error {
	return map[string]func() error{
		"FirstIndex":  func() error { _, err := s.Log.FirstIndex(); return err },
		"LastIndex":   func() error { _, err := s.Log.LastIndex(); return err },
		"GetLog":      func() error { return s.Log.GetLog(1, new(raft.Log)) },
		"StoreLog":    func() error { return s.Log.StoreLog(command(1, 1)) },
		"StoreLogs":   func() error { return s.Log.StoreLogs(commands(1, 2, 1)) },
		"DeleteRange": func() error { return s.Log.DeleteRange(1, 2) },
		"Set":         func() error { return s.Stable.Set([]byte("k"), nil) },
		"SetUint64":   func() error { return s.Stable.SetUint64([]byte("k"), 1) },
		"Get":         func() error { _, err := s.Stable.Get([]byte("k")); return err },
		"GetUint64":   func() error { _, err := s.Stable.GetUint64([]byte("k")); return err },
		"List":        func() error { _, err := s.Snapshots.List(); return err },
		"Open":        func() error { _, _, err := s.Snapshots.Open("1-1-1"); return err },
		"Create": func() error {
			_, err := s.Snapshots.Create(1, 1, 1, raft.Configuration{}, 1, nil)
			return err
		},
	}
}

// After Close Raft's goroutines end, too: some outlive its shutdown.
func TestCallsAfterClose(t *testing.T) {
	g := newGuarded(t, Memory())
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if err := g.ForNode().Log.StoreLog(command(1, 1)); !errors.Is(err, ErrClosed) {
		t.Errorf("for the node: %v", err)
	}
	if ended := <-Go(func() { g.ForRaft().Log.FirstIndex() }); !errors.Is(ended, ErrEnded) {
		t.Errorf("for Raft: %v", ended)
	}
	if len(g.fails) != 0 {
		t.Errorf("it failed: %v", <-g.fails)
	}
}

// A panic is reported with where it was, also that of closing.
func TestPanics(t *testing.T) {
	g := newGuarded(t, Memory())
	g.faults.on("Get", func() error { panic("torn") })
	g.faults.on("Close", func() error { panic("torn again") })
	_, err := g.ForNode().Stable.Get([]byte("k"))
	var failed *FailedError
	var damage *DamageError
	if !errors.As(err, &failed) || !errors.As(err, &damage) || !strings.Contains(string(failed.Stack), "faults_test.go") {
		t.Errorf("Get: %v\n%s", err, failed.Stack)
	}
	if err := g.Close(); err == nil || !strings.Contains(err.Error(), "torn again") {
		t.Errorf("Close: %v", err)
	}
}

// Go tells a return, an end and a panic apart.
func TestGo(t *testing.T) {
	if err := <-Go(func() {}); err != nil {
		t.Errorf("a return: %v", err)
	}
	if err := <-Go(func() { exitIfDown(ErrClosed) }); err != ErrEnded {
		t.Errorf("an end: %v", err)
	}
	if err := <-Go(func() { panic("no") }); err == nil || !strings.Contains(err.Error(), "panic: no") {
		t.Errorf("a panic: %v", err)
	}
}

// What is not there is no failure, and is told as Raft expects it.
func TestAbsent(t *testing.T) {
	for name, storage := range bothStorages(t) {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, storage)
			s := g.ForRaft()
			if err := s.Log.GetLog(1, new(raft.Log)); err != raft.ErrLogNotFound {
				t.Errorf("GetLog: %v", err)
			}
			if _, err := s.Stable.Get([]byte("k")); err == nil || err.Error() != "not found" {
				t.Errorf("Get: %v", err)
			}
			if n, err := s.Stable.GetUint64([]byte("k")); n != 0 || err == nil || err.Error() != "not found" {
				t.Errorf("GetUint64: %v", err)
			}
			if metas, err := s.Snapshots.List(); err != nil || len(metas) != 0 {
				t.Errorf("List: %v, %v", metas, err)
			}
			if _, _, err := s.Snapshots.Open("1-1-1"); err == nil {
				t.Error("Open found a snapshot")
			}
			if state, err := raft.HasExistingState(s.Log, s.Stable, s.Snapshots); state || err != nil {
				t.Errorf("HasExistingState: %v, %v", state, err)
			}
			if g.Err() != nil {
				t.Error(g.Err())
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func bothStorages(t *testing.T) map[string]Storage {
	return map[string]Storage{"memory": Memory(), "bolt": Bolt(quickDir(t))}
}

// What was stored is there when the storage is opened again.
func TestReopen(t *testing.T) {
	for name, storage := range bothStorages(t) {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, storage)
			fill(t, g.ForNode(), 30)
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			g = newGuarded(t, storage)
			if err := g.Check(); err != nil {
				t.Error(err)
			}
			expectFill(t, g.ForNode(), 30)
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// fill stores what a node has after a while: a term, a vote, a snapshot up to
// entry last-10, and the entries from last-20 to last.
func fill(t *testing.T, s Stores, last uint64) {
	t.Helper()
	write := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write(s.Stable.SetUint64(keyCurrentTerm, 3))
	write(s.Stable.SetUint64([]byte("LastVoteTerm"), 3))
	write(s.Stable.Set([]byte("LastVoteCand"), []byte("n2")))
	configuration := testConfiguration
	write(s.Log.StoreLog(&raft.Log{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(configuration)}))
	write(s.Log.StoreLogs(commands(2, last, 3)))
	sink, err := s.Snapshots.Create(1, last-10, 3, configuration, 1, nopTransport)
	write(err)
	_, err = sink.Write([]byte("state"))
	write(err)
	write(sink.Close())
	write(sink.Close()) // Raft closes it again after its Persist did
	write(s.Log.DeleteRange(1, last-21))
}

// expectFill reads all that fill stored.
func expectFill(t *testing.T, s Stores, last uint64) {
	t.Helper()
	if term, err := s.Stable.GetUint64(keyCurrentTerm); term != 3 || err != nil {
		t.Errorf("term %d, %v", term, err)
	}
	if vote, err := s.Stable.Get([]byte("LastVoteCand")); string(vote) != "n2" || err != nil {
		t.Errorf("vote %q, %v", vote, err)
	}
	first, err1 := s.Log.FirstIndex()
	newest, err2 := s.Log.LastIndex()
	if first != last-20 || newest != last || err1 != nil || err2 != nil {
		t.Errorf("entries %d to %d, %v, %v", first, newest, err1, err2)
	}
	for index := last - 20; index <= last; index++ {
		var log raft.Log
		if err := s.Log.GetLog(index, &log); err != nil || string(log.Data) != string(testEntry(int64(index))) || log.Term != 3 {
			t.Errorf("entry %d: %v, %v", index, log, err)
		}
	}
	metas, err := s.Snapshots.List()
	if err != nil || len(metas) != 1 || metas[0].Index != last-10 {
		t.Fatalf("snapshots %v, %v", metas, err)
	}
	meta, source, err := s.Snapshots.Open(metas[0].ID)
	if err != nil || meta.Size != 5 || meta.Configuration.Servers[0].Address != "n1:7400" {
		t.Fatalf("snapshot %v, %v", meta, err)
	}
	if state, err := io.ReadAll(source); string(state) != "state" || err != nil {
		t.Errorf("snapshot %q, %v", state, err)
	}
	if err := source.Close(); err != nil {
		t.Error(err)
	}
}
