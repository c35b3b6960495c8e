package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// Epochs is the checker of the fencing token: of two tenures of a key, one of
// which was granted before the other was asked for, the later has the higher
// epoch, and an epoch never has two owners. It looks at the answers of acquires
// and at the grants that holders took. It can't see overlaps, nor an epoch
// that rose without need, nor the order of tenures that were asked for at the
// same time.
var Epochs = Checker{
	Name:  "epochs",
	Sees:  "an epoch that is used twice, or does not rise from tenure to tenure",
	Blind: "overlaps, data, the order of concurrent acquires",
	Needs: history.TellsOps,
	check: checkEpochs,
}

// A grantSpan is evidence that an epoch was granted between two instants.
type grantSpan struct {
	call, done time.Duration
	epoch      uint64
	owner, req string
	event      *history.Event
}

func checkEpochs(h *history.History, f *Finding) {
	spans := grantSpans(h)
	for _, key := range keysOf(spans) {
		f.Looked += len(spans[key])
		f.oneOwner(key, spans[key])
		f.rising(key, spans[key])
	}
}

func grantSpans(h *history.History) map[string][]grantSpan {
	spans := make(map[string][]grantSpan)
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Invoke.F == history.Acquire && op.Outcome == history.OK {
			spans[op.Invoke.Key] = append(spans[op.Invoke.Key],
				grantSpan{op.Call, op.Return, op.Complete.Epoch, op.Invoke.Owner, op.Invoke.Req, op.Complete})
		}
	}
	for key, list := range Tenures(h) {
		for _, t := range list {
			// Without an instant of sending only a grant that came in time is
			// in order, which needs clocks.
			if len(t.Holds) > 0 && (t.Holds[0].Sent > 0 || h.Terms.Timed) {
				first := t.Holds[0]
				call := first.Sent
				if call == 0 {
					call = first.T
				}
				spans[key] = append(spans[key], grantSpan{call, first.T, t.Epoch, t.Owner, "", first})
			}
		}
	}
	return spans
}

func (f *Finding) oneOwner(key string, spans []grantSpan) {
	first := make(map[uint64]grantSpan)
	for _, s := range spans {
		had, seen := first[s.epoch]
		if seen && had.owner != s.owner {
			f.violate(Violation{
				Rule: "S2", Claim: ClaimB, Key: key,
				Sentence: fmt.Sprintf("epoch %d of %s was granted to two owners: to %s by %s, to %s by %s",
					s.epoch, key, had.owner, at(had.done), s.owner, at(s.done)),
			}, had.event, s.event)
		}
		if !seen {
			first[s.epoch] = s
		}
	}
}

// rising compares each grant with the highest one that was known before it was
// asked for.
func (f *Finding) rising(key string, spans []grantSpan) {
	byCall, byDone := slices.Clone(spans), slices.Clone(spans)
	slices.SortStableFunc(byCall, func(a, b grantSpan) int { return cmp.Compare(a.call, b.call) })
	slices.SortStableFunc(byDone, func(a, b grantSpan) int { return cmp.Compare(a.done, b.done) })
	var highest grantSpan
	next := 0
	for _, s := range byCall {
		for ; next < len(byDone) && byDone[next].done < s.call; next++ {
			if byDone[next].epoch > highest.epoch {
				highest = byDone[next]
			}
		}
		if highest.epoch > s.epoch || highest.epoch == s.epoch && highest.event != nil && !s.repeats(highest) {
			f.violate(Violation{
				Rule: "S2", Claim: ClaimB, Key: key,
				Sentence: fmt.Sprintf("the epoch of %s did not rise: %s was granted epoch %d by %s, and then %s, who asked at %s, epoch %d",
					key, highest.owner, highest.epoch, at(highest.done), s.owner, at(s.call), s.epoch),
			}, highest.event, s.event)
		}
	}
}

// repeats reports whether s may be the same tenure told again: a retry of the
// acquire, or its holder's word.
func (s grantSpan) repeats(o grantSpan) bool {
	return s.owner == o.owner && (s.req == o.req || s.req == "" || o.req == "")
}
