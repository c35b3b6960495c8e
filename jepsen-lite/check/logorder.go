package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// LogOrder is the checker of the answers against the committed log, replayed
// by index with a model of its own: each grant is the effect of a command at
// the index that it names, which was appended after the request was sent;
// each refusal and each confirmed read is true of the log at some point
// between the newest entry known before it and its answer; what was said to be
// surely not applied, or refused, was not granted; and no takeover came before the TTL
// can have passed since the grant that it replaced. It trusts indexes and the
// log, so it can't see two logs that agree with nobody's answers, nor anything
// that holders do.
var LogOrder = Checker{
	Name:  "logorder",
	Sees:  "an answer that the committed log does not explain, a cached answer, an early takeover",
	Blind: "holders and data; a log that is itself wrong in the same way as the answers",
	Needs: history.TellsLog,
	check: checkLogOrder,
}

func checkLogOrder(h *history.History, f *Finding) {
	r := replay(h)
	f.Looked = len(r.commands)
	if f.Looked == 0 {
		return
	}
	known := newFrontier(h)
	for key, ops := range byKeyInOrder(h) {
		for _, op := range ops {
			f.explain(r, known, key, op)
		}
	}
	f.appendedInTime(h)
	f.askedInTime(h, r)
	f.wrongDenials(h, r)
	if h.Terms.Timed {
		f.earlyTakeovers(h, r)
	}
}

func byKeyInOrder(h *history.History) func(yield func(string, []*history.Op) bool) {
	ops := h.ByKey()
	return func(yield func(string, []*history.Op) bool) {
		for _, key := range keysOf(ops) {
			if !yield(key, ops[key]) {
				return
			}
		}
	}
}

// explain finds what in the log an answer is the effect of, or is true of.
func (f *Finding) explain(r *replayed, known *frontier, key string, op *history.Op) {
	s := step{ask: op.Invoke, answer: op.Complete, ok: op.Outcome == history.OK, call: op.Call, ret: op.Return}
	if op.Outcome == history.Info || !s.tells() {
		return
	}
	f.Looked++
	versions := r.at(key)
	if s.ok && s.ask.F != history.Get {
		f.explainEffect(versions, known, key, op, &s)
		return
	}
	low := known.before(op.Call)
	for i, v := range versions {
		if i+1 < len(versions) && versions[i+1].event.Index <= low {
			continue // it stood no more
		}
		if v.explains(&s, r.floor) {
			return
		}
	}
	f.violate(Violation{
		Rule: "answer", Claim: ClaimS, Key: key, From: op.Call, To: op.Return,
		Sentence: fmt.Sprintf("the committed log explains it nowhere from index %d on: %s", low, &s),
	}, op.Complete, op.Invoke)
}

// explainEffect finds the command whose effect an answer tells.
func (f *Finding) explainEffect(versions []*version, known *frontier, key string, op *history.Op, s *step) {
	index := s.answer.Index
	var closest *version
	for _, v := range versions[1:] {
		if index != 0 && v.event.Index != index || !v.isCommandOf(s.ask) {
			continue
		}
		if index == 0 && v.event.Index <= known.before(op.Call) {
			continue
		}
		closest = v
		if v.applied && v.agrees(s) {
			return
		}
	}
	what := "has no such command there"
	var proof *history.Event
	if closest != nil {
		proof = closest.event
		what = fmt.Sprintf("has at index %d that command on %s, which makes it %s", proof.Index, closest.before.describe(), closest.describe())
		if !closest.applied {
			what = fmt.Sprintf("refuses it at index %d, where %s", proof.Index, closest.before.describe())
		}
	}
	f.violate(Violation{
		Rule: "answer", Claim: ClaimS, Key: key, From: op.Call, To: op.Return,
		Sentence: fmt.Sprintf("the committed log %s: %s, index %d", what, s, index),
	}, op.Complete, op.Invoke, proof)
}

func (v *version) isCommandOf(ask *history.Event) bool {
	e := v.event
	if e.F != ask.F || e.Owner != ask.Owner {
		return false
	}
	switch ask.F {
	case history.Acquire:
		return e.Req == ask.Req
	case history.Release:
		return e.Epoch == ask.Epoch && e.Req == ask.Req
	}
	return e.Epoch == ask.Epoch
}

// agrees reports whether a command's effect is what an answer tells.
func (v *version) agrees(s *step) bool {
	switch s.ask.F {
	case history.Acquire:
		return v.epoch == s.answer.Epoch && v.ttl == s.answer.TTL && v.forgotten == s.answer.Forgotten
	case history.Renew:
		return v.ttl == s.answer.TTL && v.forgotten == s.answer.Forgotten
	case history.Forget:
		return v.forgotten == s.answer.Forgotten
	}
	return true
}

// explains reports whether a refusal or a read is true of this version.
func (v *version) explains(s *step, floor uint64) bool {
	a, mine := s.answer, v.known && v.held && v.owner == s.ask.Owner && (s.ask.Epoch == v.epoch || s.ask.Epoch == 0 && s.ask.Req == v.req)
	if s.ask.F == history.Get || a.Err == history.Held {
		owner := a.Owner
		if a.Err == history.Held {
			owner = a.Holder
		}
		switch {
		case a.Err == history.Held && v.held && v.owner == s.ask.Owner && v.req == s.ask.Req:
			return false
		case !v.known:
			return !a.Held && a.Epoch >= v.epoch && a.Epoch <= floor
		}
		return a.Held == v.held && a.Epoch == v.epoch && (!v.held || owner == v.owner) && (s.ask.F != history.Get || a.Forgotten == v.forgotten)
	}
	if s.ask.F == history.Acquire {
		return v.known && !v.held && v.owner == s.ask.Owner && v.req == s.ask.Req
	}
	return !mine
}

func (w *row) describe() string {
	switch {
	case !w.known:
		return "no record"
	case !w.held:
		return fmt.Sprintf("free, epoch %d, forgotten %d", w.epoch, w.forgotten)
	}
	return fmt.Sprintf("held by %s (request %s), epoch %d, forgotten %d, ttl %v, grant index %d", w.owner, w.req, w.epoch, w.forgotten, w.ttl, w.grant)
}

// A frontier says which index was surely committed at an instant: the highest
// one that an answer had told by then.
type frontier struct {
	at    []time.Duration
	index []uint64
}

func newFrontier(h *history.History) *frontier {
	ops := answered(h)
	slices.SortFunc(ops, func(a, b *history.Op) int { return cmp.Compare(a.Return, b.Return) })
	k := &frontier{}
	var highest uint64
	for _, op := range ops {
		if op.Complete.Index > highest {
			highest = op.Complete.Index
			k.at, k.index = append(k.at, op.Return), append(k.index, highest)
		}
	}
	return k
}

// before returns the highest index told before an instant.
func (k *frontier) before(t time.Duration) uint64 {
	i, _ := slices.BinarySearch(k.at, t)
	if i == 0 {
		return 0
	}
	return k.index[i-1]
}

// answered returns the operations whose answer names a log entry.
func answered(h *history.History) []*history.Op {
	var ops []*history.Op
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Outcome == history.OK && op.Complete.Index != 0 {
			ops = append(ops, op)
		}
	}
	return ops
}
