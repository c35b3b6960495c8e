package jepsenlite_test

import (
	"path/filepath"
	"strings"
	"testing"

	jepsenlite "example.com/tenure/jepsen-lite"
	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/plan"
)

// What a run has found once stays found: each plan broke a promise of the
// product before a fix.
func TestRegressions(t *testing.T) {
	paths, err := filepath.Glob("testdata/regressions/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no plans: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			p, err := plan.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var told strings.Builder
			r, err := jepsenlite.RunPlan(t, p, jepsenlite.Options{Dir: filepath.Join(t.TempDir(), "run"), Out: &told})
			if err != nil {
				t.Fatal(err)
			}
			if r.Judgement.Verdict != check.Valid {
				t.Errorf("want valid:\n%s", &told)
			}
		})
	}
}
