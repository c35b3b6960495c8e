package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// appendedInTime finds answers from entries that were appended before their
// request was sent. Entries are appended in the order of their indexes, each
// after the call that asked for it and before the answer that names it: so no
// answer comes before the call of any operation at the same or a lower index.
func (f *Finding) appendedInTime(h *history.History) {
	ops := answered(h)
	slices.SortStableFunc(ops, func(a, b *history.Op) int { return cmp.Compare(a.Complete.Index, b.Complete.Index) })
	var latest *history.Op // of the calls at the indexes so far
	for i := 0; i < len(ops); {
		next := i
		for ; next < len(ops) && ops[next].Complete.Index == ops[i].Complete.Index; next++ {
			if latest == nil || ops[next].Call > latest.Call {
				latest = ops[next]
			}
		}
		for ; i < next; i++ {
			if op := ops[i]; op.Return < latest.Call {
				f.violate(Violation{
					Rule: "cached", Claim: ClaimS, Key: latest.Invoke.Key, From: latest.Call, To: latest.Return,
					Sentence: fmt.Sprintf("the answer to the %s of %s by %s names index %d, which was appended before the request was sent at %s: an answer that names index %d had come at %s",
						latest.Invoke.F, latest.Invoke.Key, latest.Invoke.Owner, latest.Complete.Index, at(latest.Call), op.Complete.Index, at(op.Return)),
				}, latest.Complete, latest.Invoke, op.Complete)
			}
		}
	}
}

// askedInTime finds the same where it is known when entries were stored first:
// then even if nobody had heard of the entry yet.
func (f *Finding) askedInTime(h *history.History, r *replayed) {
	stored := make(map[uint64]*history.Event)
	for _, v := range r.commands {
		if v.event.Stored > 0 && stored[v.event.Index] == nil {
			stored[v.event.Index] = v.event
		}
	}
	for _, op := range answered(h) {
		if e := stored[op.Complete.Index]; e != nil && e.Stored < op.Call {
			f.violate(Violation{
				Rule: "cached", Claim: ClaimS, Key: op.Invoke.Key, From: e.Stored, To: op.Return,
				Sentence: fmt.Sprintf("the answer to the %s of %s by %s, which was sent at %s, names index %d, which a disk was storing at %s already",
					op.Invoke.F, op.Invoke.Key, op.Invoke.Owner, at(op.Call), e.Index, at(e.Stored)),
			}, op.Complete, op.Invoke, e)
		}
	}
}

// wrongDenials finds commands that took effect and that no try can have caused:
// all that were sent by the time at which the command was surely in the log were
// answered as refused, or as not applied, or there was none at all.
func (f *Finding) wrongDenials(h *history.History, r *replayed) {
	tries := make(map[commandID][]*history.Op)
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Invoke.F != history.Renew {
			tries[idOf(op.Invoke)] = append(tries[idOf(op.Invoke)], op)
			if op.Invoke.Forget { // it makes two commands
				forget := idOf(op.Invoke)
				forget.f = history.Forget
				tries[forget] = append(tries[forget], op)
			}
		}
	}
	u := newUnknowns(h)
	asked := h.Terms.Tell(history.TellsOps) && h.Terms.Tell(history.TellsLog)
	for _, v := range r.commands {
		if v.event.F == history.Renew || !v.applied {
			continue // one that was refused had no effect
		}
		by := u.when(v.event.Index)
		var last *history.Op
		if list := tries[idOf(v.event)]; asked && (len(list) == 0 || list[0].Call > by) {
			f.violate(Violation{
				Rule: "unasked", Claim: ClaimS, Key: v.event.Key,
				Sentence: fmt.Sprintf("the log has at index %d a %s of %s by %s, which took effect by %s, and nobody had asked for it by then",
					v.event.Index, v.event.F, v.event.Key, v.event.Owner, at(by)),
			}, v.event)
			continue
		}
		for _, op := range tries[idOf(v.event)] {
			if op.Call > by {
				break
			}
			if last = op; op.Outcome != history.Fail {
				last = nil
				break
			}
		}
		if last == nil {
			continue
		}
		f.violate(Violation{
			Rule: "denied", Claim: ClaimS, Key: v.event.Key, From: last.Call, To: last.Return,
			Sentence: fmt.Sprintf("the %s of %s by %s (request %q, epoch %d) was answered at %s as %s, and no other try was sent by %s, when it had taken effect at index %d of the log",
				v.event.F, v.event.Key, v.event.Owner, v.event.Req, last.Invoke.Epoch, at(last.Return), last.Complete.Err, at(by), v.event.Index),
		}, last.Complete, v.event)
	}
}

// earlyTakeovers finds takeovers that were stored, or answered, before the TTL
// of the tenure which they ended can have passed on any node's clock.
func (f *Finding) earlyTakeovers(h *history.History, r *replayed) {
	ops := answered(h)
	byIndex := make(map[uint64][]*history.Op)
	indexes := make([]uint64, 0, len(ops))
	calls := make(map[uint64]time.Duration)
	slices.SortStableFunc(ops, func(a, b *history.Op) int { return cmp.Compare(a.Complete.Index, b.Complete.Index) })
	var latest time.Duration
	for _, op := range ops {
		latest = max(latest, op.Call)
		index := op.Complete.Index
		if len(byIndex[index]) == 0 {
			indexes = append(indexes, index)
		}
		byIndex[index] = append(byIndex[index], op)
		calls[index] = latest
	}
	for _, v := range r.commands {
		if v.event.F != history.Acquire || !v.applied || !v.before.held || v.epoch == v.before.epoch {
			continue
		}
		i, found := slices.BinarySearch(indexes, v.before.grant)
		if !found {
			i--
		}
		if i < 0 {
			continue
		}
		least := calls[indexes[i]] + time.Duration(float64(v.before.ttl)/h.Terms.Fastest())
		f.earlyTakeover(v, least, byIndex[v.event.Index])
	}
}

// earlyTakeover finds a takeover that was stored, or answered, before the least
// instant at which any node can have seen the tenure before it expire.
func (f *Finding) earlyTakeover(v *version, least time.Duration, answers []*history.Op) {
	by, proof := history.Never, v.event
	if v.event.Stored > 0 {
		by = v.event.Stored
	}
	for _, op := range answers {
		if op.Invoke.Key == v.event.Key && op.Invoke.Req == v.event.Req && op.Return < by {
			by, proof = op.Return, op.Complete
		}
	}
	if by >= least {
		return
	}
	f.violate(Violation{
		Rule: "early", Claim: ClaimA, Key: v.event.Key, From: by, To: least,
		Sentence: fmt.Sprintf("%s took %s over from %s (epoch %d, grant of index %d, ttl %v) by %s, but no node can have seen that expire before %s",
			v.owner, v.event.Key, v.before.owner, v.before.epoch, v.before.grant, v.before.ttl, at(by), at(least)),
		Amount: fmt.Sprintf("%v early", least-by),
	}, proof, v.event)
}
