package process_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/process"
)

func seconds(s float64) plan.Duration { return plan.Duration(s * float64(time.Second)) }

// A short plan with all that processes can suffer.
func shortPlan() *plan.Plan {
	fast := 1.05
	return &plan.Plan{
		Version: plan.Version, Seed: 1, Arena: plan.Process, Nodes: 3, Replicas: 2, Keys: 2,
		TTL: seconds(2), Margin: seconds(0.2), Election: seconds(0.3), Snapshot: 50, Workload: []string{plan.Contended},
		Safety: seconds(5), Liveness: seconds(8), Available: seconds(8),
		Kinds: plan.KindsOf(plan.Process),
		Faults: []plan.Fault{
			{Kind: plan.Kill, At: seconds(0.5), For: seconds(1), Targets: []string{plan.Leader}},
			{Kind: plan.PauseHolder, At: seconds(0.7), For: seconds(1.5), Targets: []string{"r1"}},
			{Kind: plan.PauseGate, At: seconds(0.8), For: seconds(0.5), Targets: []string{"r2"}, Point: plan.AfterWrite},
			{Kind: plan.KillSuccessor, At: seconds(0.9), For: seconds(0.2), Targets: []string{"r1", "r2"}, Point: plan.Sealed},
			{Kind: plan.Partition, At: seconds(1), For: seconds(1), Targets: []string{"n1>n2", "n2>n1", "n3>r2"}},
			{Kind: plan.Slow, At: seconds(1.5), For: seconds(1), Targets: []string{"r2>n1"}, Delay: seconds(0.05), Jitter: seconds(0.01)},
			{Kind: plan.Pause, At: seconds(2.5), For: seconds(0.5), Targets: []string{"n3"}},
			{Kind: plan.Throttle, At: seconds(2.6), For: seconds(0.5), Targets: []string{"n1>n2"}, Bytes: 20000},
			{Kind: plan.Reset, At: seconds(3), Targets: []string{"n2>n1", "r1>n2"}},
			{Kind: plan.HalfOpen, At: seconds(3.2), For: seconds(0.5), Targets: []string{"r1>n1"}},
			{Kind: plan.KillHolder, At: seconds(3.5), For: seconds(0.5), Targets: []string{"r2"}},
			{Kind: plan.Clock, At: seconds(3.6), For: seconds(1), Targets: []string{"n1", "r1", "r2"}, Rate: &fast},
			{Kind: plan.Transfer, At: seconds(4.5), Targets: []string{"n2"}},
		},
	}
}

// carryOut runs a plan in a folder and returns its history, as far as it got.
func carryOut(t *testing.T, ctx context.Context, dir string, p *plan.Plan) (*history.History, error) {
	t.Helper()
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "history.jsonl")
	w, err := history.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	terms := p.Terms()
	terms.Tells = process.Tells()
	outcome := process.Do(ctx, process.Run{Plan: p, History: w, Terms: terms, DataDir: filepath.Join(dir, "data"), LogDir: dir})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("these processes are left: %v", left)
	}
	h, err := history.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return h, outcome
}

// children returns the processes that this one started and that are there.
func children(t *testing.T) []string {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Error(err)
	}
	var found []string
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended this moment
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if fields[1] == strconv.Itoa(os.Getpid()) {
			found = append(found, path)
		}
	}
	return found
}

// Real processes under all faults keep their promise, every checker has
// something to judge, and nothing is left.
func TestValid(t *testing.T) {
	p := shortPlan()
	h, err := carryOut(t, t.Context(), t.TempDir(), p)
	if err != nil {
		t.Fatal(err)
	}
	j := check.Judge(h)
	if j.Verdict != check.Valid {
		t.Errorf("%s: %q", j.Verdict, j.Reasons)
	}
	for _, f := range j.Findings {
		if f.Verdict == check.Skipped && f.Checker != "reigns" && f.Checker != "kept" {
			t.Errorf("%s was skipped: %s", f.Checker, f.Reason)
		}
	}
	for _, e := range h.Events {
		if e.Kind == history.Log && e.Stored == 0 {
			t.Errorf("nobody knows when entry %d was stored", e.Index)
		}
	}
	struck := make(map[string]bool)
	for _, s := range h.Faults {
		struck[s.Event.F] = true
		if s.To == history.Never {
			t.Errorf("the %s was not healed", s.Event.F)
		}
	}
	for _, f := range p.Faults {
		if !struck[f.Kind] && !f.Waits() { // those may wait in vain
			t.Errorf("no %s struck", f.Kind)
		}
	}
}

// A run that is interrupted ends at once, whatever stands, and leaves no
// process.
func TestInterrupted(t *testing.T) {
	p := shortPlan()
	p.Safety, p.Faults = seconds(600), p.Faults[:3]
	for i := range p.Faults {
		p.Faults[i].For = seconds(500)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	begun := time.Now()
	h, err := carryOut(t, ctx, t.TempDir(), p)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %v", err)
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if j := check.Judge(h); j.Verdict == check.Valid {
		t.Error("a run that was cut off is valid")
	}
}

// A node that does not come back is no failure of the harness but something to
// judge.
func TestBreach(t *testing.T) {
	p, dir := shortPlan(), t.TempDir()
	p.Faults = []plan.Fault{{Kind: plan.Kill, At: seconds(0.5), For: seconds(2), Targets: []string{"n2"}}}
	damaged := make(chan error, 1)
	go func() {
		killed := func() bool {
			return bytes.Contains(read(t, filepath.Join(dir, "history.jsonl")), []byte(`"f":"kill"`)) && len(children(t)) == p.Nodes+p.Replicas-1
		}
		for t.Context().Err() == nil && !killed() {
			time.Sleep(10 * time.Millisecond)
		}
		damaged <- os.WriteFile(filepath.Join(dir, "data", "n2", "bolt", "raft.db"), []byte("no bolt file"), 0o644)
	}()
	h, err := carryOut(t, t.Context(), dir, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-damaged; err != nil {
		t.Fatal(err)
	}
	j := check.Judge(h)
	if v := j.Violations(); j.Verdict != check.Violated || len(v) != 1 || v[0].Rule != "conduct" || !strings.Contains(v[0].Sentence, "raft.db") {
		t.Errorf("%s: %v", j.Verdict, v)
	}
}
