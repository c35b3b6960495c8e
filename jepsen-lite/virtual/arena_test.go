package virtual_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/virtual"
)

// carryOut runs a plan and returns its history.
func carryOut(t *testing.T, p *plan.Plan) *history.History {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.jsonl")
	w, err := history.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	terms := p.Terms()
	terms.Tells = []string{history.TellsOps, history.TellsGates, history.TellsData, history.TellsLog, history.TellsWatch, history.TellsSums, history.TellsLeaks}
	if err := virtual.Do(t, virtual.Run{Plan: p, History: w, Terms: terms}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := history.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Whatever kinds of faults exist, each on its own, the product breaks no
// promise, every checker has something to judge, and each fault is taken,
// probed and healed.
func TestEachKindOfFault(t *testing.T) {
	for i, kind := range plan.KindsOf(plan.Virtual) {
		t.Run(kind, func(t *testing.T) {
			var p *plan.Plan
			for seed := uint64(i + 1); p == nil || len(p.Faults) == 0; seed += 100 {
				p = plan.Draw(seed, plan.Options{Safety: 15 * time.Second, Kinds: []string{kind}})
			}
			h := carryOut(t, p)
			j := check.Judge(h)
			if j.Verdict == check.Violated {
				for _, v := range j.Violations() {
					t.Error(check.Explain(h, v))
				}
			}
			for _, f := range j.Findings {
				if f.Verdict == check.Unknown {
					t.Errorf("%s: %s", f.Checker, f.Reason)
				}
			}
			waits := p.Faults[0].Waits() // those may wait in vain
			if len(h.Faults) > len(p.Faults) || len(h.Faults) < len(p.Faults) && !waits || len(h.Faults) == 0 {
				t.Errorf("%d of %d faults were taken", len(h.Faults), len(p.Faults))
			}
			if open := slices.IndexFunc(h.Faults, func(s history.Span) bool { return s.To == history.Never }); open >= 0 {
				t.Errorf("a fault was not healed: %+v", h.Faults[open])
			}
		})
	}
}
