package workload_test

import (
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder/holdertest"
	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/workload"
)

// A notebook is a journal in memory.
type notebook struct {
	start time.Time
	mu    sync.Mutex
	ids   uint64
	w     *history.Writer
}

func (n *notebook) Now() time.Duration { return time.Since(n.start) }

func (n *notebook) Record(e history.Event) {
	if e.T == 0 {
		e.T = n.Now()
	}
	if err := n.w.Write(e); err != nil {
		panic(err) // a test's own disk
	}
}

func (n *notebook) NextID() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ids++
	return n.ids
}

// A straight clock runs as true time does.
type straight struct{ tenure.Clock }

func (c straight) After(t time.Duration) (time.Duration, bool) { return max(0, t-c.Now()), true }

// Two replicas do what every workload demands over a store that works, and no
// checker minds; each workload leaves its marks.
func TestWorkloads(t *testing.T) {
	for _, name := range plan.Workloads() {
		t.Run(name, func(t *testing.T) {
			h := work(t, name)
			for _, c := range []check.Checker{check.Overlap, check.Epochs, check.Gates, check.Data, check.Forgets, check.Causeless} {
				if f := c.Check(h); f.Verdict == check.Violated {
					t.Error(check.Explain(h, f.Violations[0]))
				}
			}
			acquired, written := 0, 0
			for _, op := range h.Ops {
				switch {
				case op.Outcome != history.OK:
				case op.Invoke.F == history.Acquire:
					acquired++
				case op.Invoke.F == history.Write:
					written++
				}
			}
			writes := name == plan.Contended || name == plan.Ledger
			if acquired < 5 || (written > 0) != writes {
				t.Errorf("%d acquires and %d writes", acquired, written)
			}
		})
	}
}

// work has two replicas at one workload for a while.
func work(t *testing.T, name string) *history.History {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	w, err := history.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Draw(1, plan.Options{Workload: []string{name}})
	p.Replicas = 2
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		journal := &notebook{start: time.Now(), w: w}
		journal.Record(history.Event{Kind: history.Run, Terms: p.Terms()})
		store, copies := holdertest.NewStore(tenure.MonotonicClock()), workload.NewRegisters()
		var all []*workload.Process
		for i := range p.Replicas {
			p, err := workload.Start(t.Context(), workload.Config{
				Name: plan.ReplicaName(i), Plan: p, Store: store, Clock: straight{tenure.MonotonicClock()},
				Journal: journal, Copies: copies, Folder: folder,
			})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		time.Sleep(20 * time.Second)
		for _, p := range all {
			p.Close()
		}
		journal.Record(history.Event{Kind: history.End})
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := history.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
