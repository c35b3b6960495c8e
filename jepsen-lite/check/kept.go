package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// Kept is the checker of a fleet's data, as its clients see it. A list of a key
// has every value whose put was acknowledged before the list was asked for
// (K1), none that nobody put, or whose put was refused for good (K2), none
// twice (K3), and all that a list before it had (K4). It can't see who owned
// the key, and a value that is not listed again is not checked.
var Kept = Checker{
	Name:  "kept",
	Sees:  "an acknowledged value that is lost, and one that is there twice or without a reason",
	Blind: "owners and time, values that nobody listed afterwards, their order",
	Needs: history.TellsLists,
	check: checkKept,
}

// values is what clients put to a key and saw of it.
type values struct {
	key   string
	puts  map[uint64]*history.Op // by value
	lists []*history.Op          // answered, by invocation
	told  map[string]bool
}

// news reports whether nothing was told yet of a value under a rule: what is
// lost is missing from every list after that, too.
func (v *values) news(rule string, value uint64) bool {
	of := fmt.Sprint(rule, value)
	known := v.told[of]
	v.told[of] = true
	return !known
}

func checkKept(h *history.History, f *Finding) {
	ops := h.ByKey()
	for _, key := range keysOf(ops) {
		v := valuesOf(key, ops[key])
		f.Looked += len(v.lists)
		f.dropped(v)
		f.unfounded(v)
		for i, list := range v.lists {
			f.repeated(v, list)
			f.vanished(v, v.lists[:i], list)
		}
	}
}

func valuesOf(key string, ops []*history.Op) *values {
	v := &values{key: key, puts: make(map[uint64]*history.Op), told: make(map[string]bool)}
	for _, op := range ops {
		switch {
		case op.Invoke.F == history.Put:
			v.puts[op.Invoke.Value] = op
		case op.Invoke.F == history.List && op.Outcome == history.OK:
			v.lists = append(v.lists, op)
		}
	}
	return v
}

// A rising is the values of puts in the order of some instant of each.
type rising struct {
	puts []*history.Op
	when func(*history.Op) time.Duration
	set  history.Set
}

func (v *values) rising(which func(*history.Op) bool, when func(*history.Op) time.Duration) *rising {
	r := &rising{when: when}
	for _, put := range v.puts {
		if which(put) {
			r.puts = append(r.puts, put)
		}
	}
	slices.SortFunc(r.puts, func(a, b *history.Op) int { return cmp.Compare(when(a), when(b)) })
	return r
}

// before returns the values whose instant is before another, which must not
// fall from call to call.
func (r *rising) before(t time.Duration) history.Set {
	n := 0
	for ; n < len(r.puts) && r.when(r.puts[n]) < t; n++ {
		r.set = r.set.With(r.puts[n].Invoke.Value)
	}
	r.puts = r.puts[n:]
	return r.set
}

// dropped is K1.
func (f *Finding) dropped(v *values) {
	acked := v.rising(func(put *history.Op) bool { return put.Outcome == history.OK }, func(put *history.Op) time.Duration { return put.Return })
	for _, list := range v.lists {
		missing := acked.before(list.Call).Without(list.Complete.Values, 1<<20)
		missing = slices.DeleteFunc(missing, func(value uint64) bool { return !v.news("K1", value) })
		if len(missing) == 0 {
			continue
		}
		put := v.puts[missing[0]]
		f.violate(Violation{
			Rule: "K1", Claim: ClaimB, Key: v.key, From: put.Return, To: list.Return,
			Sentence: fmt.Sprintf("value %d of %s, acknowledged by %s%s at %s, is missing from the list that %s gave%s from %s to %s",
				missing[0], v.key, answeredBy(put), underEpoch(put), at(put.Return), answeredBy(list), underEpoch(list), at(list.Call), at(list.Return)),
			Amount: fmt.Sprintf("%d acknowledged values missing: %v", len(missing), history.SetOf(missing...)),
		}, put.Complete, list.Invoke, list.Complete)
	}
}

// unfounded is K2.
func (f *Finding) unfounded(v *values) {
	meant := v.rising(func(put *history.Op) bool { return put.Outcome != history.Fail }, func(put *history.Op) time.Duration { return put.Call })
	byReturn := slices.Clone(v.lists)
	slices.SortStableFunc(byReturn, func(a, b *history.Op) int { return cmp.Compare(a.Return, b.Return) })
	for _, list := range byReturn {
		for _, value := range list.Complete.Values.Without(meant.before(list.Return+1), mostShown) {
			if v.news("K2", value) {
				f.baseless(v, list, value)
			}
		}
	}
}

func (f *Finding) baseless(v *values, list *history.Op, value uint64) {
	what, proof := "which nobody had put", (*history.Event)(nil)
	switch put := v.puts[value]; {
	case put != nil && put.Outcome == history.Fail:
		what, proof = fmt.Sprintf("whose put was refused for good at %s", at(put.Return)), put.Complete
	case put != nil:
		what, proof = fmt.Sprintf("which was put only from %s on", at(put.Call)), put.Invoke
	}
	f.violate(Violation{
		Rule: "K2", Claim: ClaimB, Key: v.key,
		Sentence: fmt.Sprintf("%s listed value %d of %s%s by %s, %s", answeredBy(list), value, v.key, underEpoch(list), at(list.Return), what),
	}, list.Complete, proof)
}

// repeated is K3.
func (f *Finding) repeated(v *values, list *history.Op) {
	if len(list.Complete.Twice) == 0 {
		return
	}
	value := list.Complete.Twice[0].First
	if !v.news("K3", value) {
		return
	}
	var put *history.Event
	if op := v.puts[value]; op != nil {
		put = op.Invoke
	}
	f.violate(Violation{
		Rule: "K3", Claim: ClaimB, Key: v.key,
		Sentence: fmt.Sprintf("%s listed value %d of %s more than once%s by %s", answeredBy(list), value, v.key, underEpoch(list), at(list.Return)),
		Amount:   fmt.Sprintf("values more than once: %v", list.Complete.Twice),
	}, list.Complete, put)
}

// vanished is K4. What the newest list that was over had is enough: it had all
// of those before it, or was told itself.
func (f *Finding) vanished(v *values, over []*history.Op, list *history.Op) {
	var before *history.Op
	for _, l := range over {
		if l.Return < list.Call && (before == nil || l.Return > before.Return) {
			before = l
		}
	}
	if before == nil {
		return
	}
	missing := before.Complete.Values.Without(list.Complete.Values, 10)
	for _, value := range missing {
		if put := v.puts[value]; put == nil || put.Outcome == history.OK && put.Return < list.Call {
			continue // nobody put it, or it was acknowledged: told already
		}
		if !v.news("K4", value) {
			continue
		}
		f.violate(Violation{
			Rule: "K4", Claim: ClaimB, Key: v.key, From: before.Return, To: list.Return,
			Sentence: fmt.Sprintf("value %d of %s was in the list that %s gave%s at %s, and is gone from the one that %s gave%s at %s",
				value, v.key, answeredBy(before), underEpoch(before), at(before.Return), answeredBy(list), underEpoch(list), at(list.Return)),
		}, before.Complete, list.Complete)
		return
	}
}

func underEpoch(op *history.Op) string {
	if op.Complete.Epoch == 0 {
		return ""
	}
	return fmt.Sprintf(" at epoch %d", op.Complete.Epoch)
}
