package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// Reigns is the checker of a fleet's owners, as its clients see them: after an
// answer under one epoch of a key was received, no request that is sent is
// answered under a lower one (R1), and one epoch has the answers of one owner
// (R2). It finds two owners that answer in turns, and a fencing token that
// starts again. It can't see an owner that nobody asked, nor two whose answers
// were all under way at the same time, nor anything of a fleet whose answers do
// not tell the epoch.
var Reigns = Checker{
	Name:  "reigns",
	Sees:  "an answer under a lower epoch than one before it, an epoch with two owners",
	Blind: "owners that nobody asked, answers that were under way at the same time",
	Needs: history.TellsEpochs,
	Timed: true,
	check: checkReigns,
}

func checkReigns(h *history.History, f *Finding) {
	ops := h.ByKey()
	for _, key := range keysOf(ops) {
		answers := reignAnswers(ops[key])
		f.Looked += len(answers)
		f.fallen(key, answers)
		f.sharedEpochs(key, answers)
	}
}

// reignAnswers returns the answers that tell an epoch, by invocation.
func reignAnswers(ops []*history.Op) []*history.Op {
	return slices.DeleteFunc(slices.Clone(ops), func(op *history.Op) bool {
		asked := op.Invoke.F == history.Put || op.Invoke.F == history.List
		return !asked || op.Outcome != history.OK || op.Complete.Epoch == 0
	})
}

// fallen is R1. An owner of before that goes on answering is told once.
func (f *Finding) fallen(key string, answers []*history.Op) {
	told := make(map[uint64]bool)
	over := slices.Clone(answers)
	slices.SortStableFunc(over, func(a, b *history.Op) int { return cmp.Compare(a.Return, b.Return) })
	var highest *history.Op
	next := 0
	for _, op := range answers {
		for ; next < len(over) && over[next].Return < op.Call; next++ {
			if highest == nil || over[next].Complete.Epoch > highest.Complete.Epoch {
				highest = over[next]
			}
		}
		if highest == nil || op.Complete.Epoch >= highest.Complete.Epoch || told[op.Complete.Epoch] {
			continue
		}
		told[op.Complete.Epoch] = true
		f.violate(Violation{
			Rule: "R1", Claim: ClaimA, Key: key, From: highest.Call, To: op.Return,
			Sentence: fmt.Sprintf("%s answered a %s of %s at epoch %d by %s, and a %s that was sent after that, at %s, was answered by %s at epoch %d",
				answeredBy(highest), highest.Invoke.F, key, highest.Complete.Epoch, at(highest.Return), op.Invoke.F, at(op.Call), answeredBy(op), op.Complete.Epoch),
			Amount: fmt.Sprintf("epoch %d after epoch %d, by %v", op.Complete.Epoch, highest.Complete.Epoch, op.Return-highest.Return),
		}, op.Complete, op.Invoke, highest.Complete)
	}
}

// sharedEpochs is R2.
func (f *Finding) sharedEpochs(key string, answers []*history.Op) {
	first, told := make(map[uint64]*history.Op), make(map[uint64]bool)
	for _, op := range answers {
		if op.Complete.Owner == "" {
			continue
		}
		had := first[op.Complete.Epoch]
		if had == nil {
			first[op.Complete.Epoch] = op
			continue
		}
		if had.Complete.Owner != op.Complete.Owner && !told[op.Complete.Epoch] {
			told[op.Complete.Epoch] = true
			f.violate(Violation{
				Rule: "R2", Claim: ClaimA, Key: key,
				Sentence: fmt.Sprintf("two owners answered for %s at epoch %d: %s by %s, and %s by %s",
					key, op.Complete.Epoch, answeredBy(had), at(had.Return), answeredBy(op), at(op.Return)),
			}, op.Complete, had.Complete)
		}
	}
}

func answeredBy(op *history.Op) string {
	if op.Complete.Owner != "" {
		return op.Complete.Owner
	}
	return "somebody, through " + op.Invoke.Node + ","
}

// A Reign is the time in which a key's owner is known to have answered under
// one epoch: it was asked at From at the earliest, and its last answer came at
// To. Reigns that follow each other may overlap, since a request takes its
// time.
type Reign struct {
	Key, Owner string
	Epoch      uint64
	From, To   time.Duration
	Answers    int
}

// ReignsOf returns the reigns of each key, by their beginning. An answer that
// does not tell its owner counts for the one that others tell of its epoch.
func ReignsOf(h *history.History) map[string][]*Reign {
	out := make(map[string][]*Reign)
	for key, ops := range h.ByKey() {
		for _, op := range reignAnswers(ops) {
			r := reignIn(out[key], op.Complete.Epoch, op.Complete.Owner)
			if r == nil {
				r = &Reign{Key: key, Epoch: op.Complete.Epoch, From: op.Call}
				out[key] = append(out[key], r)
			}
			r.Owner = cmp.Or(r.Owner, op.Complete.Owner)
			r.To = max(r.To, op.Return)
			r.Answers++
		}
	}
	return out
}

// reignIn returns the reign that an answer belongs to, nil if it begins one.
func reignIn(reigns []*Reign, epoch uint64, owner string) *Reign {
	for _, r := range slices.Backward(reigns) {
		if r.Epoch == epoch && (r.Owner == owner || r.Owner == "" || owner == "") {
			return r
		}
	}
	return nil
}

// reigns tells who answered for a key between two instants.
func reigns(h *history.History, key string, from, to time.Duration) []string {
	var out []string
	for _, r := range ReignsOf(h)[key] {
		if r.From > to || r.To < from || len(out) == mostChains {
			continue
		}
		owner := r.Owner
		if owner == "" {
			owner = "somebody"
		}
		out = append(out, fmt.Sprintf("%s epoch %d of %s: asked from %s on, last answer by %s, %d answers", r.Key, r.Epoch, owner, at(r.From), at(r.To), r.Answers))
	}
	return out
}
