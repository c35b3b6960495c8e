package check

import (
	"fmt"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// Available is the checker of L1: within a bound after the last heal every key
// of the run has an owner again who knows it, by an acquire or a renewal that
// is answered. It only looks at the liveness phase; how long a key had no
// owner under faults is for the report. A run that ended before the bound is
// unknown.
var Available = Checker{
	Name:  "available",
	Sees:  "a key that nobody can get after everything was healed",
	Blind: "unavailability under faults, and whether the line is fair",
	Needs: history.TellsOps,
	check: checkAvailable,
}

func checkAvailable(h *history.History, f *Finding) {
	healed, phased := h.PhaseStart(history.PhaseLiveness)
	bound := h.Terms.Available
	if !phased || bound == 0 {
		f.Verdict, f.Reason = Skipped, "the plan sets no bound"
		return
	}
	ops := h.ByKey()
	for _, key := range keysOf(ops) {
		f.Looked++
		answer := firstGrant(ops[key], healed)
		switch {
		case answer != nil && answer.Return <= healed+bound:
		case answer == nil && h.Last() < healed+bound:
			f.unknown("the run ended at %s, before the bound for %s at %s", at(h.Last()), key, at(healed+bound))
		default:
			f.late(key, healed, bound, answer)
		}
	}
}

// firstGrant returns the first answer after the instant that says that a
// tenure stands.
func firstGrant(ops []*history.Op, after time.Duration) *history.Op {
	var first *history.Op
	for _, op := range ops {
		grants := op.Invoke.F == history.Acquire || op.Invoke.F == history.Renew || op.Invoke.F == history.Put
		if grants && op.Outcome == history.OK && op.Return >= after && (first == nil || op.Return < first.Return) {
			first = op
		}
	}
	return first
}

func (f *Finding) late(key string, healed, bound time.Duration, answer *history.Op) {
	when, proof := "never", []*history.Event(nil)
	if answer != nil {
		when, proof = "only at "+at(answer.Return), []*history.Event{answer.Complete}
	}
	f.violate(Violation{
		Rule: "L1", Claim: ClaimL, Key: key, From: healed, To: healed + bound,
		Sentence: fmt.Sprintf("everything was healed at %s, and %s was to have an owner by %s: it had one %s", at(healed), key, at(healed+bound), when),
	}, proof...)
}
