package check

import (
	"fmt"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// Causeless is the checker of L2: a tenure is not lost without a cause. A
// command refused as lost needs somebody who ended the tenure: a release that
// its owner sent, or another acquire that was or may have been granted. And a
// tenure that a holder keeps is not taken over while no fault stood, from two
// TTLs before its last grant was asked for until it was answered. It can't
// tell whether a loss under a fault had to be.
var Causeless = Checker{
	Name:  "causeless",
	Sees:  "a lease that is lost, or taken over, although nothing happened to it",
	Blind: "losses while any fault stands",
	Needs: history.TellsOps,
	check: checkCauseless,
}

func checkCauseless(h *history.History, f *Finding) {
	kept := Tenures(h)
	ops := h.ByKey()
	for _, key := range keysOf(ops) {
		for _, op := range ops[key] {
			if op.Outcome == history.Fail && op.Complete.Err == history.Lost && op.Invoke.F != history.Acquire && op.Invoke.Epoch != 0 {
				f.Looked++
				f.lostForNothing(key, ops[key], op)
			}
		}
		f.takenForNothing(h, key, ops[key], kept[key])
	}
}

func (f *Finding) lostForNothing(key string, ops []*history.Op, lost *history.Op) {
	for _, op := range ops {
		if op.Call > lost.Return {
			break
		}
		if op.Invoke.F == history.Release && op.Invoke.Owner == lost.Invoke.Owner && ended(op) {
			return
		}
	}
	if next := successor(ops, lost); next != nil && firstTry(ops, next).Call <= lost.Return || next == nil && maybeTaken(ops, lost) {
		return
	}
	f.violate(Violation{
		Rule: "L2", Claim: ClaimL, Key: key, From: lost.Call, To: lost.Return,
		Sentence: fmt.Sprintf("%s was told at %s, to its %s, that its tenure of %s at epoch %d is over, but nobody had ended it",
			lost.Invoke.Owner, at(lost.Return), lost.Invoke.F, key, lost.Invoke.Epoch),
	}, lost.Complete, lost.Invoke)
}

// successor returns the acquire that was granted the very next epoch, by which
// no other tenure can have come between. One that was granted the same epoch
// is another checker's matter.
func successor(ops []*history.Op, lost *history.Op) *history.Op {
	var next *history.Op
	for _, op := range ops {
		if op.Invoke.F != history.Acquire || op.Outcome != history.OK {
			continue
		}
		same := op.Complete.Epoch == lost.Invoke.Epoch && op.Invoke.Owner != lost.Invoke.Owner
		if (same || op.Complete.Epoch == lost.Invoke.Epoch+1) && (next == nil || op.Call < next.Call) {
			next = op
		}
	}
	return next
}

// firstTry returns the first try of an acquire that may have been granted.
func firstTry(ops []*history.Op, op *history.Op) *history.Op {
	i := slices.IndexFunc(ops, func(try *history.Op) bool {
		return try.Invoke.F == history.Acquire && try.Outcome != history.Fail &&
			try.Invoke.Owner == op.Invoke.Owner && try.Invoke.Req == op.Invoke.Req
	})
	return ops[i]
}

// maybeTaken reports whether any acquire that was sent in time may have been
// granted a higher epoch.
func maybeTaken(ops []*history.Op, lost *history.Op) bool {
	return slices.ContainsFunc(ops, func(op *history.Op) bool {
		if op.Invoke.F != history.Acquire || op.Call > lost.Return {
			return false
		}
		return op.Outcome == history.Info || op.Outcome == history.OK && op.Complete.Epoch > lost.Invoke.Epoch
	})
}

// ended reports whether a release ended its tenure, or may have. One that was
// answered as lost may be a retry of one that was applied.
func ended(op *history.Op) bool {
	return op.Outcome != history.Fail || op.Complete.Err == history.Lost
}

func (f *Finding) takenForNothing(h *history.History, key string, ops []*history.Op, kept []*Tenure) {
	for _, t := range kept {
		f.Looked++
		if len(t.Holds) == 0 || t.Stop != nil {
			continue
		}
		taker := takerOf(ops, t)
		last := t.Holds[len(t.Holds)-1]
		sent := last.Sent
		if sent == 0 {
			sent = last.T
		}
		if taker == nil || released(ops, t, taker.Return) || faultBetween(h, sent-2*h.Terms.TTL, taker.Return) {
			continue
		}
		f.violate(Violation{
			Rule: "L2", Claim: ClaimL, Key: key, From: last.T, To: taker.Return,
			Sentence: fmt.Sprintf("%s kept %s at epoch %d until %s took it at epoch %d by %s, though no fault stood from %s on",
				t.Owner, key, t.Epoch, taker.Invoke.Owner, taker.Complete.Epoch, at(taker.Return), at(max(0, sent-2*h.Terms.TTL))),
		}, taker.Complete, last)
	}
}

// takerOf returns the acquire that was granted next after the tenure.
func takerOf(ops []*history.Op, t *Tenure) *history.Op {
	var next *history.Op
	for _, op := range ops {
		if op.Invoke.F == history.Acquire && op.Outcome == history.OK && op.Complete.Epoch > t.Epoch &&
			(next == nil || op.Complete.Epoch < next.Complete.Epoch) {
			next = op
		}
	}
	return next
}

// released reports whether the tenure's owner sent a release of it before the
// instant.
func released(ops []*history.Op, t *Tenure, by time.Duration) bool {
	return slices.ContainsFunc(ops, func(op *history.Op) bool {
		return op.Invoke.F == history.Release && op.Invoke.Owner == t.Owner && op.Call <= by &&
			(op.Invoke.Epoch == t.Epoch || op.Invoke.Epoch == 0)
	})
}

// faultBetween reports whether any fault stood between two instants.
func faultBetween(h *history.History, from, to time.Duration) bool {
	return slices.ContainsFunc(h.Faults, func(s history.Span) bool { return s.From <= to && s.To >= from })
}
