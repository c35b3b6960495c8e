package virtual

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

// What is open is counted, and what was closed is not.
func TestWhatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNet(1)
		near, far := pair(t, n)
		if conns, listeners := n.open(); conns != 2 || listeners > 1 {
			t.Errorf("%d ends of a connection and %d listeners", conns, listeners)
		}
		if err := errors.Join(near.Close(), far.Close()); err != nil {
			t.Fatal(err)
		}
		if conns, _ := n.open(); conns != 0 {
			t.Errorf("%d ends of a closed connection", conns)
		}

		d := NewDisk(1, func(uint64) {}, func() {})
		if d.uses() != 0 {
			t.Error("a new disk is open")
		}
		stores, err := d.Open(hclog.NewNullLogger())
		if err != nil || d.uses() != 1 {
			t.Fatalf("%d uses of an open disk, %v", d.uses(), err)
		}
		if err := stores.Close(); err != nil || d.uses() != 0 {
			t.Errorf("%d uses of a closed disk, %v", d.uses(), err)
		}

		c := NewClock(0, 1)
		timer := c.AfterFunc(time.Second, func() {})
		c.AfterFunc(time.Millisecond, func() {})
		time.Sleep(10 * time.Millisecond)
		if c.pending() != 1 || !timer.Stop() || c.pending() != 0 {
			t.Errorf("%d timers after one was stopped and one has fired", c.pending())
		}
	})
}

// A node that does what none may is a violation, and what comes of that is no
// error of the run's.
func TestBreach(t *testing.T) {
	path := t.TempDir() + "/history.jsonl"
	w, err := history.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	a := newArena(Run{Plan: plan.Draw(1, plan.Options{}), History: w})
	a.record(history.Event{Kind: history.Run, Terms: a.plan.Terms()})
	a.breach("n1", "stopped by itself: %v", errors.New("no reason"))
	a.fail("node n1 does not answer")
	if err := errors.Join(a.failed(), w.Close()); err != nil {
		t.Errorf("the run failed: %v", err)
	}
	h, err := history.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if f := check.Conduct.Check(h); f.Verdict != check.Violated {
		t.Errorf("the verdict is %s", f.Verdict)
	}
}

// The first instant of an entry counts, and another term's is another entry.
func TestStoredFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDisk(1, func(uint64) {}, func() {})
		begun := time.Now()
		d.noteFirst([]*raft.Log{entry(1, 1)})
		time.Sleep(time.Second)
		d.noteFirst([]*raft.Log{entry(1, 1), entry(1, 2)})
		for term, want := range map[uint64]time.Duration{1: 0, 2: time.Second} {
			if at, known := d.storedAt(entry(1, term)); !known || at.Sub(begun) != want {
				t.Errorf("the entry of term %d was stored after %v, want %v", term, at.Sub(begun), want)
			}
		}
		if _, known := d.storedAt(entry(2, 1)); known {
			t.Error("an entry that nobody stored has an instant")
		}
	})
}
