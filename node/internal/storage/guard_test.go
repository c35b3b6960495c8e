package storage

import (
	"errors"
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
		if took := time.Since(began); took > closeWait {
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
