package check

import (
	"fmt"

	"example.com/tenure/jepsen-lite/history"
)

// Forgets is the checker of forgetting. F1: what is recovered or read after a
// forget was answered comes from no copy of the forgotten epochs, and has none
// of their writes. F2: the forgotten epoch that the store tells for a key
// never falls from one answer to a later one. F3: nothing is forgotten that
// nobody asked to forget: a tenure's recovery may count an epoch as dead only
// if a forget of it, or of a higher one, was sent. It can't see a forgotten
// epoch that fell and that nobody asked for before it rose again.
var Forgets = Checker{
	Name:  "forgets",
	Sees:  "forgotten data that is read back, a forgotten epoch that falls or comes from nowhere",
	Blind: "everything that is not about forgetting",
	Needs: history.TellsOps,
	check: checkForgets,
}

func checkForgets(h *history.History, f *Finding) {
	all := copiesByKey(h)
	for _, key := range keysOf(all) {
		for _, look := range all[key].looks {
			f.Looked++
			f.readBack(all[key], look)
			f.unasked(all[key], look)
		}
	}
	ops := h.ByKey()
	for _, key := range keysOf(ops) {
		f.falling(key, ops[key])
	}
}

// readBack is F1.
func (f *Finding) readBack(c *copies, look *history.Op) {
	dead, forget := c.forgottenBy(look.Call)
	if forget == nil || look.Invoke.Epoch <= dead {
		return // a tenure that is itself dead may look at its own copy
	}
	if from := look.Complete.Copy; from != 0 && from <= dead {
		f.violate(Violation{
			Rule: "F1", Claim: ClaimB, Key: c.key,
			Sentence: fmt.Sprintf("%s %s at epoch %d the copy of epoch %d of %s from %s, after epoch %d was forgotten at %s",
				look.Invoke.Owner, didLook(look), look.Invoke.Epoch, from, c.key, at(look.Call), dead, at(forget.Return)),
		}, look.Complete, forget.Complete)
		return
	}
	for _, r := range look.Complete.Values {
		for v := r.First; v <= r.Last && v-r.First < 1<<20; v++ {
			if w := c.writes[v]; w != nil && w.Invoke.Epoch <= dead {
				f.violate(Violation{
					Rule: "F1", Claim: ClaimB, Key: c.key,
					Sentence: fmt.Sprintf("%s %s at epoch %d write %d of %s at %s, which was written at epoch %d, forgotten at %s",
						look.Invoke.Owner, didLook(look), look.Invoke.Epoch, v, c.key, at(look.Return), w.Invoke.Epoch, at(forget.Return)),
				}, look.Complete, forget.Complete, w.Invoke)
				return
			}
		}
	}
}

// unasked is F3, as far as it cost writes.
func (f *Finding) unasked(c *copies, look *history.Op) {
	claimed, asked := look.Invoke.Forgotten, c.mayForget(look.Call)
	if claimed <= asked {
		return
	}
	for _, w := range c.writes {
		if w.Outcome == history.OK && w.Invoke.Epoch > asked && w.Invoke.Epoch <= claimed && w.Return < look.Call {
			f.violate(Violation{
				Rule: "F3", Claim: ClaimB, Key: c.key,
				Sentence: fmt.Sprintf("%s took epoch %d of %s for forgotten at %s, with write %d of epoch %d in it, but nobody had asked to forget it",
					look.Invoke.Owner, claimed, c.key, at(look.Call), w.Invoke.Value, w.Invoke.Epoch),
			}, look.Invoke, w.Complete)
			return
		}
	}
}

// falling is F2. Only answers that come from the log or from a confirmed read
// are in order; local reads may be old.
func (f *Finding) falling(key string, ops []*history.Op) {
	var highest *history.Op
	for _, op := range answersInOrder(ops) {
		f.Looked++
		for _, before := range op.before {
			if highest == nil || before.Complete.Forgotten > highest.Complete.Forgotten {
				highest = before
			}
		}
		if highest != nil && op.Complete.Forgotten < highest.Complete.Forgotten {
			f.violate(Violation{
				Rule: "F2", Claim: ClaimB, Key: key, From: highest.Return, To: op.Return,
				Sentence: fmt.Sprintf("the forgotten epoch of %s fell from %d, told at %s, to %d, told at %s",
					key, highest.Complete.Forgotten, at(highest.Return), op.Complete.Forgotten, at(op.Return)),
			}, op.Complete, highest.Complete)
		}
	}
}
