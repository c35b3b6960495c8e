package virtual

import (
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/tenure/fsm"
	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

// written returns what the checkers say of the logs of two nodes, both of which
// know the first two entries to be committed.
func written(t *testing.T, logs map[string][]*raft.Log) check.Verdict {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.jsonl")
	w, err := history.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Draw(1, plan.Options{})
	p.Nodes = 2
	terms := p.Terms()
	terms.Tells = []string{history.TellsSums}
	a := newArena(Run{Plan: p, History: w, Terms: terms})
	a.record(history.Event{Kind: history.Run, Terms: terms})
	commits := make(map[string]uint64)
	for name, log := range logs {
		s := &server{arena: a, name: name}
		s.insertDisk()
		a.nodes[name], commits[name] = s, 2
		stores, err := s.disk().Open(hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		if err := stores.Log.StoreLogs(log); err != nil {
			t.Fatal(err)
		}
		if err := stores.Close(); err != nil {
			t.Fatal(err)
		}
	}
	a.writeLog(commits)
	a.record(history.Event{Kind: history.End})
	if err := a.failed(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := history.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range check.Judge(h).Findings {
		if f.Checker == check.Checksums.Name {
			return f.Verdict
		}
	}
	return check.Unknown
}

// Two nodes that hold another entry at one committed index are a violation;
// what a node does not know to be committed may differ.
func TestCommittedEntriesThatDiffer(t *testing.T) {
	command := func(index, term uint64, owner string) *raft.Log {
		data, err := fsm.AppendEntry(nil, []fsm.Command{{Kind: fsm.Acquire, Key: "k1", Owner: owner, RequestID: "x", TTL: 1e9}})
		if err != nil {
			t.Fatal(err)
		}
		return &raft.Log{Index: index, Term: term, Type: raft.LogCommand, Data: data}
	}
	for _, c := range []struct {
		name  string
		other []*raft.Log
		want  check.Verdict
	}{
		{"the same", []*raft.Log{command(1, 1, "a"), command(2, 1, "b"), command(3, 1, "c")}, check.Valid},
		{"the same, and another tail", []*raft.Log{command(1, 1, "a"), command(2, 1, "b"), command(3, 2, "d")}, check.Valid},
		{"another command", []*raft.Log{command(1, 1, "a"), command(2, 1, "d"), command(3, 1, "c")}, check.Violated},
		{"another term", []*raft.Log{command(1, 1, "a"), command(2, 2, "b"), command(3, 2, "c")}, check.Violated},
	} {
		one := []*raft.Log{command(1, 1, "a"), command(2, 1, "b"), command(3, 1, "c")}
		got := written(t, map[string][]*raft.Log{"n1": one, "n2": c.other})
		if got != c.want && !(c.want == check.Valid && got != check.Violated) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
