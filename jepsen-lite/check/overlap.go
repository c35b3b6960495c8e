package check

import (
	"fmt"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// Overlap is the checker of the one promise, as holders see it: for each key,
// held intervals of different owners never overlap on the common clock. A
// holder's interval goes from the instant at which it took the grant to its
// fence, or to its last pass of a gate if that was later, and is cut off where
// it stopped. It knows nothing of the store: it can't see an epoch that was
// not raised, a stale read, a forgotten epoch that fell, a release that was
// answered but not applied, as long as holders' intervals stay apart, and it
// sees a fence that is too late only if somebody else gets the key in time.
var Overlap = Checker{
	Name:  "overlap",
	Sees:  "two owners that hold one key at the same instant",
	Blind: "the store's answers, epochs and data; a late fence that nobody ran into",
	Needs: history.TellsGates,
	Timed: true,
	check: checkOverlap,
}

func checkOverlap(h *history.History, f *Finding) {
	slack := 2 * h.Terms.ClockError
	tenures := Tenures(h)
	for _, key := range keysOf(tenures) {
		var furthest *Tenure
		for _, t := range tenures[key] {
			f.Looked++
			if t.To <= t.From {
				continue // its grant was over when it came
			}
			if furthest != nil && furthest.Owner != t.Owner && t.From < furthest.To-slack {
				f.violateOverlap(furthest, t)
			}
			if furthest == nil || t.To > furthest.To {
				furthest = t
			}
		}
	}
}

func (f *Finding) violateOverlap(a, b *Tenure) {
	end := min(a.To, b.To)
	proof := append([]*history.Event{}, a.lastHold(b.From), b.lastHold(b.From))
	for _, gate := range a.Gates {
		if gate.T > b.From {
			proof = append(proof, gate) // the old owner's first look that should have failed
			break
		}
	}
	f.violate(Violation{
		Rule: "S1", Claim: ClaimA, Key: a.Key, From: b.From, To: end,
		Sentence: fmt.Sprintf("%s was held by two owners from %s to %s: by %s, and by %s",
			a.Key, at(b.From), at(end), a.describe(b.From), b.describe(b.From)),
		Amount: fmt.Sprintf("overlap of %v", end-b.From),
	}, proof...)
}

// describe says who held from when to when, by which grant.
func (t *Tenure) describe(by time.Duration) string {
	s := fmt.Sprintf("%s at epoch %d from %s to %s", t.Owner, t.Epoch, at(t.From), at(t.To))
	if hold := t.lastHold(by); hold != nil {
		s += fmt.Sprintf(" (grant of index %d, sent at %s, taken at %s, fence at %s)", hold.Index, at(hold.Sent), at(hold.T), at(hold.Fence))
	}
	return s
}
