package virtual_test

import (
	"strings"
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

// Replicas that embed a node share its fate, whichever of the two a fault
// names: after a kill of either the replica is another owner.
func TestEmbeddedReplicasShareTheFateOfTheirNodes(t *testing.T) {
	p := plan.Draw(1, plan.Options{Safety: 12 * time.Second, Kinds: []string{plan.Kill, plan.KillHolder, plan.PauseHolder, plan.PauseGate, plan.KillSuccessor}})
	p.Nodes, p.Replicas, p.Embedded, p.Keys = 3, 3, 2, 4
	at := func(seconds float64) plan.Duration { return plan.Duration(seconds * float64(time.Second)) }
	p.Faults = []plan.Fault{
		{Kind: plan.Kill, At: at(1), For: at(0.5), Targets: []string{"n1"}},
		{Kind: plan.KillHolder, At: at(3), For: at(0.5), Targets: []string{"r1", "r3"}},
		{Kind: plan.PauseHolder, At: at(5), For: at(1), Targets: []string{"r2", "r3"}},
		{Kind: plan.PauseGate, At: at(6.5), For: at(1), Targets: []string{"r1"}, Point: plan.AfterWrite},
		{Kind: plan.KillSuccessor, At: at(8), For: at(0.5), Targets: []string{"r2"}, Point: plan.Copied},
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	h := carryOut(t, p)
	j := check.Judge(h)
	for _, v := range j.Violations() {
		t.Error(check.Explain(h, v))
	}
	owners := make(map[string]map[string]bool)
	for _, op := range h.Ops {
		if op.Invoke.F != history.Acquire || op.Outcome != history.OK {
			continue
		}
		replica, _, _ := strings.Cut(op.Invoke.Owner, "/")
		if owners[replica] == nil {
			owners[replica] = make(map[string]bool)
		}
		owners[replica][op.Invoke.Owner] = true
	}
	for replica, least := range map[string]int{"r1": 3, "r2": 2, "r3": 2} {
		if len(owners[replica]) < least {
			t.Errorf("%s was %d owners, want at least %d", replica, len(owners[replica]), least)
		}
	}
	if len(h.Faults) != len(p.Faults) {
		t.Errorf("%d of %d faults were taken", len(h.Faults), len(p.Faults))
	}
}
