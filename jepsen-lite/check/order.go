package check

import (
	"cmp"
	"slices"

	"example.com/tenure/jepsen-lite/history"
)

// An ordered is an answer, with the answers that were over before it was asked
// for and were not yet before an earlier one.
type ordered struct {
	*history.Op
	before []*history.Op
}

// answersInOrder returns the answers that tell a key's forgotten epoch, by
// invocation.
func answersInOrder(ops []*history.Op) []ordered {
	var asked []*history.Op
	for _, op := range ops {
		if op.Outcome != history.OK {
			continue
		}
		switch op.Invoke.F {
		case history.Acquire, history.Renew, history.Forget, history.Get:
			asked = append(asked, op)
		}
	}
	over := slices.Clone(asked)
	slices.SortStableFunc(over, func(a, b *history.Op) int { return cmp.Compare(a.Return, b.Return) })
	out := make([]ordered, 0, len(asked))
	next := 0
	for _, op := range asked {
		o := ordered{Op: op}
		for ; next < len(over) && over[next].Return < op.Call; next++ {
			o.before = append(o.before, over[next])
		}
		out = append(out, o)
	}
	return out
}
