package check_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
)

// Every checker has bad histories, and each is rejected by exactly the checker
// that it is named after.
func TestBadHistories(t *testing.T) {
	rejects := make(map[string]int)
	for _, path := range glob(t, "bad") {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		want, _, _ := strings.Cut(name, "-")
		t.Run(name, func(t *testing.T) {
			h := load(t, path)
			j := check.Judge(h)
			var by []string
			for _, f := range j.Findings {
				if f.Verdict == check.Violated {
					by = append(by, f.Checker)
				}
			}
			if j.Verdict != check.Violated || !slices.Equal(by, []string{want}) {
				t.Fatalf("verdict %s, rejected by %v: %q", j.Verdict, by, j.Reasons)
			}
			rejects[want]++
			for _, v := range j.Violations() {
				text := check.Explain(h, v).String()
				if v.Sentence == "" || v.Rule == "" || v.Claim == "" || !strings.Contains(text, v.Sentence) {
					t.Errorf("it is not explained: %s", text)
				}
			}
		})
	}
	for _, c := range check.All {
		if rejects[c.Name] == 0 {
			t.Errorf("checker %s has no bad history that it alone rejects", c.Name)
		}
	}
}

// No checker rejects a good history, and what it covers is counted.
func TestGoodHistories(t *testing.T) {
	for _, path := range glob(t, "good") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if j := check.Judge(load(t, path)); j.Verdict != check.Valid {
				t.Errorf("verdict %s: %q", j.Verdict, j.Reasons)
			}
		})
	}
}

// A run that lacks what its plan called for, that was cut off, or in which
// nothing happened is unknown, never valid.
func TestLackIsUnknown(t *testing.T) {
	const grant = `{"t":1,"kind":"invoke","f":"acquire","id":1,"key":"k","owner":"a","req":"x","ttl":9}` + "\n" +
		`{"t":2,"kind":"ok","id":1,"epoch":1,"ttl":9}` + "\n"
	for _, c := range []struct{ name, terms, events, reason string }{
		{"coverage", `"coverage":{"takeovers":2}`, grant + `{"t":3,"kind":"end"}`, "takeovers"},
		{"cut off", `"ttl":9`, grant, "cut off"},
		{"torn", `"ttl":9`, grant + `{"t":3,"ki`, "cut off"},
		{"nothing to judge", `"tells":["watch"]`, grant + `{"t":3,"kind":"end"}`, "truth"},
		{"ended before the bound", `"available":1000000000`, grant + `{"t":3,"kind":"phase","f":"liveness"}` + "\n" + `{"t":4,"kind":"end"}`, "available"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := history.Parse(strings.NewReader(`{"t":0,"kind":"run","terms":{"seed":1,"arena":"x","timed":true,` + c.terms + "}}\n" + c.events))
			if err != nil {
				t.Fatal(err)
			}
			if j := check.Judge(h); j.Verdict != check.Unknown || !strings.Contains(strings.Join(j.Reasons, "\n"), c.reason) {
				t.Errorf("verdict %s: %q", j.Verdict, j.Reasons)
			}
		})
	}
}

// Where faults go beyond the margin, claim A is off and claim B stays on.
func TestClaimsAreKeptApart(t *testing.T) {
	overlap, data := load(t, "../testdata/bad/overlap-second-owner.jsonl"), load(t, "../testdata/bad/data-lost-in-recovery.jsonl")
	overlap.Terms.Timed, data.Terms.Timed = false, false
	if j := check.Judge(overlap); j.Verdict == check.Violated {
		t.Errorf("claim A was judged in a run beyond the margin: %q", j.Reasons)
	}
	if j := check.Judge(data); j.Verdict != check.Violated {
		t.Errorf("claim B was not judged in a run beyond the margin: %s", j.Verdict)
	}
}

func glob(t *testing.T, folder string) []string {
	paths, err := filepath.Glob("../testdata/" + folder + "/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no histories in %s: %v", folder, err)
	}
	return paths
}

func load(t *testing.T, path string) *history.History {
	h, err := history.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
