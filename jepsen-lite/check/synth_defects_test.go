package check_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
)

// No checker cries wolf: the runs of a correct product are valid.
func TestGoodRunsAreValid(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		for _, mode := range []string{"", "untimed"} {
			h := synthesize(t, seed, mode)
			if j := check.Judge(h); j.Verdict != check.Valid {
				t.Errorf("seed %d %s: %s %q", seed, mode, j.Verdict, j.Reasons)
				for _, v := range j.Violations() {
					t.Log(check.Explain(h, v))
					break
				}
			}
		}
	}
}

// Each planted defect is found by the checkers that are there for it.
func TestPlantedDefectsAreFound(t *testing.T) {
	for defect, by := range map[string]string{
		"expiry-early":           "linear logorder overlap",
		"restart-forgets":        "linear logorder",
		"snapshot-loses":         "linear logorder epochs",
		"forgotten-lowered":      "linear logorder forgets",
		"duplicate-granted-anew": "linear logorder",
		"takeover-without-cas":   "linear logorder overlap",
		"epoch-not-raised":       "linear logorder epochs",
		"renewal-resurrects":     "linear logorder",
		"batch-renews-lost":      "linear logorder",
		"release-not-applied":    "linear logorder",
		"stale-read":             "linear logorder",
		"cached-answer":          "logorder",
		"fence-on-receipt":       "gates",
		"margin-ignored":         "gates",
		"gate-only-before":       "gates",
		"lands-in-newest":        "data",
		"release-before-stop":    "gates",
		"ack-before-durable":     "data",
		"unsealed":               "data",
		"lost-for-nothing":       "causeless linear logorder",
		"stuck":                  "available",
		"watch-drops":            "truth",
		"watch-lies":             "truth",
		"watch-reorders":         "truth",
		"diverged":               "checksums",
		"leak":                   "leaks",
	} {
		t.Run(defect, func(t *testing.T) {
			missing := strings.Fields(by)
			for seed := uint64(100); seed < 105 && len(missing) > 0; seed++ {
				h := synthesize(t, seed, defect)
				missing = slices.DeleteFunc(missing, func(name string) bool { return rejects(t, name, h) })
			}
			if len(missing) > 0 {
				t.Errorf("%v found it in no seed", missing)
			}
		})
	}
}

// Every row of the coverage table is filled by an ordinary run, so that a
// plan can call for it; those of a fleet are in TestCoverageOfAFleet.
func TestCoverageIsReached(t *testing.T) {
	for _, c := range check.Cover(synthesize(t, 1, "")) {
		if c.Seen == 0 && !slices.Contains([]string{check.NearFence, check.Successions, check.ListedKeys}, c.Name) {
			t.Errorf("no %s in a whole run", c.Name)
		}
	}
}

// rejects reports whether the checker of that name finds a violation.
func rejects(t *testing.T, name string, h *history.History) bool {
	for i := range check.All {
		if check.All[i].Name == name {
			f := check.All[i].Check(h)
			return f.Verdict == check.Violated
		}
	}
	t.Fatalf("no checker %q", name)
	return false
}
