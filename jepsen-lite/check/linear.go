package check

import (
	"fmt"
	"hash/maphash"
	"math"
	"time"

	"github.com/anishathalye/porcupine"

	"example.com/tenure/jepsen-lite/history"
)

const (
	budget        = 10 * time.Second // for the search of one key
	explainBudget = 2 * time.Second  // for telling how far an order works
)

// Linear is the checker of the store as its callers see it: the answers for
// each key can be put in one order that agrees with real time and with the
// rules of DESIGN 2.2, time included: nothing is taken over before its TTL can
// have passed. An operation of unknown outcome may have happened at any later
// time or never, but is no licence for an early expiry: what follows it still
// has to fit into its own interval. Of the committed log, where there is one,
// it takes no more than which of these commands are in it at all, and by when.
// It can't see what holders do with the
// answers (a late fence, a missing gate), and where it needs longer than ten
// seconds for a key it says unknown.
var Linear = Checker{
	Name:  "linear",
	Sees:  "answers that no order of the operations explains: a double grant, a stale read, an epoch that did not rise, an early expiry",
	Blind: "holders, fences and data; searches that take too long are unknown",
	Needs: history.TellsOps,
	check: checkLinear,
}

func checkLinear(h *history.History, f *Finding) {
	rate := 0.0
	if h.Terms.Timed {
		rate = h.Terms.Fastest()
	}
	ops := h.ByKey()
	model, u := linearModel(), newUnknowns(h)
	for _, key := range keysOf(ops) {
		operations := operations(key, ops[key], rate, u)
		f.Looked += len(operations)
		switch porcupine.CheckOperationsTimeout(model, operations, budget) {
		case porcupine.Illegal:
			f.explainLinear(key, model, operations)
		case porcupine.Unknown:
			f.unknown("the search for %s did not end within %v", key, budget)
		}
	}
}

// operations makes porcupine's operations of those which concern the store, and
// whose outcome says anything, and of what nobody was told of.
func operations(key string, ops []*history.Op, rate float64, u *unknowns) []porcupine.Operation {
	var out []porcupine.Operation
	clients := make(map[string]int)
	add := func(s *step) {
		client, known := clients[s.ask.Client]
		if !known {
			client = len(clients)
			clients[s.ask.Client] = client
		}
		out = append(out, porcupine.Operation{ClientId: client, Input: s, Call: int64(s.call), Return: int64(s.ret)})
	}
	for _, s := range steps(ops, rate, u) {
		add(s)
	}
	for _, s := range u.ghosts(key, rate) {
		add(s)
	}
	return out
}

func steps(ops []*history.Op, rate float64, u *unknowns) []*step {
	var out []*step
	oneTTL := sameTTL(ops)
	for _, op := range ops {
		s := &step{ask: op.Invoke, ok: op.Outcome == history.OK, call: op.Call, ret: op.Return, rate: rate}
		if op.Outcome != history.Info {
			s.answer = op.Complete
		}
		if !s.tells() || s.answer == nil && (oneTTL && s.ask.F == history.Renew || !u.bound(s)) {
			continue
		}
		out = append(out, s)
		if u.mayBeTwo(s) {
			out = append(out, &step{ask: s.ask, call: s.call, ret: s.ret, rate: rate})
		}
	}
	return out
}

// tells reports whether the step says anything of the store's state.
func (s *step) tells() bool {
	switch s.ask.F {
	case history.Acquire, history.Renew, history.Release, history.Forget:
		return s.answer == nil || s.ok || s.answer.Err == history.Held || s.answer.Err == history.Lost
	case history.Get:
		return s.answer != nil && s.ok
	}
	return false
}

func linearModel() porcupine.Model {
	seed := maphash.MakeSeed()
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{record{}} },
		Step: func(state, input, _ any) []any {
			var out []any
			for _, r := range state.(record).next(input.(*step)) {
				out = append(out, r)
			}
			return out
		},
		Hash:              func(state any) uint64 { return maphash.Comparable(seed, state.(record)) },
		DescribeOperation: func(input, _ any) string { return input.(*step).String() },
		DescribeState:     func(state any) string { return state.(record).String() },
	}
	return m.ToModel()
}

// explainLinear tells the longest order that works, and the operation that
// had to come next and fits nowhere.
func (f *Finding) explainLinear(key string, model porcupine.Model, ops []porcupine.Operation) {
	_, info := porcupine.CheckOperationsVerbose(model, ops, explainBudget)
	var longest []porcupine.Operation
	for _, partial := range info.PartialLinearizationsOperations()[0] {
		if len(partial) > len(longest) {
			longest = partial
		}
	}
	placed := make(map[*step]bool, len(longest))
	state := model.Init()
	for _, op := range longest {
		placed[op.Input.(*step)] = true
		_, state = model.Step(state, op.Input, nil)
	}
	var stuck *step
	for _, op := range ops {
		s := op.Input.(*step)
		if !placed[s] && (stuck == nil || s.ret < stuck.ret) {
			stuck = s
		}
	}
	if stuck == nil {
		return
	}
	v := Violation{
		Rule: "linearizable", Claim: ClaimS, Key: key, From: stuck.call, To: stuck.ret,
		Sentence: fmt.Sprintf("no order explains %s: after the longest order that works (%d of %d operations) %s is %s",
			stuck, len(longest), len(ops), key, model.DescribeState(state)),
	}
	if v.To == math.MaxInt64 {
		v.To = v.From
	}
	proof := []*history.Event{stuck.ask, stuck.answer}
	for _, op := range longest[max(0, len(longest)-3):] {
		proof = append(proof, op.Input.(*step).ask, op.Input.(*step).answer)
	}
	f.violate(v, proof...)
}

// String describes the step for people.
func (s *step) String() string {
	what := fmt.Sprintf("%s by %s", s.ask.F, s.ask.Owner)
	if s.ask.Owner == "" {
		what = s.ask.F
	}
	if s.ask.Epoch != 0 {
		what += fmt.Sprintf(" at epoch %d", s.ask.Epoch)
	}
	if s.ask.Req != "" {
		what += fmt.Sprintf(" (request %s)", s.ask.Req)
	}
	what += fmt.Sprintf(" sent at %s", at(s.call))
	switch {
	case s.answer == nil:
		return what + ", never answered"
	case !s.ok:
		return what + fmt.Sprintf(", refused at %s as %s (%s at epoch %d, held %v)", at(s.ret), s.answer.Err, s.answer.Holder, s.answer.Epoch, s.answer.Held)
	case s.ask.F == history.Get:
		return what + fmt.Sprintf(", answered at %s: %s at epoch %d, held %v, forgotten %d", at(s.ret), s.answer.Owner, s.answer.Epoch, s.answer.Held, s.answer.Forgotten)
	}
	return what + fmt.Sprintf(", granted at %s: epoch %d, ttl %v, forgotten %d", at(s.ret), s.answer.Epoch, s.answer.TTL, s.answer.Forgotten)
}
