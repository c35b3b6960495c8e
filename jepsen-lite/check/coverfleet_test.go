package check_test

import (
	"slices"
	"testing"

	"example.com/tenure/jepsen-lite/check"
)

// What is counted of a fleet's answers.
func TestCoverageOfAFleet(t *testing.T) {
	table := check.Cover(load(t, "../testdata/good/fleet-frozen-owner.jsonl"))
	for name, want := range map[string]int{
		check.Successions: 1, check.ListedKeys: 1, check.AcknowledgedData: 4, check.UnknownOutcomes: 1,
	} {
		i := slices.IndexFunc(table, func(c check.Covered) bool { return c.Name == name })
		if i < 0 || table[i].Seen != want {
			t.Errorf("%s: %+v, want %d", name, table, want)
		}
	}
}
