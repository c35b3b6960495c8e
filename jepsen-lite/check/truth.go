package check

import (
	"cmp"
	"fmt"
	"slices"

	"example.com/tenure/jepsen-lite/history"
)

// Truth is the checker of what is told without asking the cluster: watches and
// local lookups. A watch tells events in the order of the log, none that did
// not happen, and all between its first and its last but those that it says it
// missed; a local lookup may be old but names only tenures that were granted,
// to the owner that they were granted to. Where there is no committed log it
// compares with the answers of acquires, and then an event that was left out
// goes unseen. It does not judge how fresh a lookup is.
var Truth = Checker{
	Name:  "truth",
	Sees:  "a watch or a local lookup that tells what did not happen, out of order, or with holes",
	Blind: "how late it is told; without a log, events that were left out",
	Needs: history.TellsWatch,
	check: checkTruth,
}

func checkTruth(h *history.History, f *Finding) {
	watches := make(map[string][]*history.Event)
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Watch {
			watches[e.Client] = append(watches[e.Client], e)
		}
	}
	r := replay(h)
	happened := r.events()
	owners := ownersByEpoch(h, r)
	for _, client := range keysOf(watches) {
		f.Looked += len(watches[client])
		f.inOrder(client, watches[client])
		if len(r.commands) > 0 {
			f.complete(client, watches[client], happened)
		}
		for _, e := range watches[client] {
			if e.F == history.Granted {
				f.ownerIsTrue(owners, e, e.Key, e.Owner, e.Epoch, fmt.Sprintf("watch %s told at %s", client, at(e.T)))
			}
		}
	}
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Invoke.F == history.Owner && op.Outcome == history.OK && op.Complete.Held {
			f.Looked++
			f.ownerIsTrue(owners, op.Complete, op.Invoke.Key, op.Complete.Owner, op.Complete.Epoch,
				fmt.Sprintf("the local lookup on %s at %s told", op.Invoke.Node, at(op.Return)))
		}
	}
}

// inOrder finds events out of the log's order, and epochs that fall.
func (f *Finding) inOrder(client string, told []*history.Event) {
	var last *history.Event
	epochs := make(map[string]*history.Event)
	for _, e := range told {
		if last != nil && e.Index < last.Index {
			f.violate(Violation{
				Rule: "order", Claim: ClaimS, Key: e.Key,
				Sentence: fmt.Sprintf("watch %s told index %d at %s after index %d at %s", client, e.Index, at(e.T), last.Index, at(last.T)),
			}, e, last)
		}
		last = e
		if e.F == history.Missed {
			continue
		}
		before := epochs[e.Key]
		if before != nil && (e.Epoch < before.Epoch || e.F == history.Granted && e.Epoch == before.Epoch) {
			f.violate(Violation{
				Rule: "order", Claim: ClaimS, Key: e.Key,
				Sentence: fmt.Sprintf("watch %s told epoch %d of %s %s at %s, after epoch %d %s at %s",
					client, e.Epoch, e.Key, e.F, at(e.T), before.Epoch, before.F, at(before.T)),
			}, e, before)
		}
		epochs[e.Key] = e
	}
}

// A happening is what a watch should tell.
type happening struct {
	index uint64
	f     string
	key   string
	epoch uint64
	owner string
}

func (r *replayed) events() []happening {
	var out []happening
	for _, v := range r.commands {
		kind := ""
		switch {
		case !v.applied:
		case v.event.F == history.Acquire && v.epoch != v.before.epoch:
			kind = history.Granted
		case v.event.F == history.Release:
			kind = history.Released
		case v.event.F == history.Forget && v.forgotten != v.before.forgotten:
			kind = history.Forgotten
		}
		if kind != "" {
			out = append(out, happening{v.event.Index, kind, v.event.Key, v.epoch, v.owner})
		}
	}
	return out
}

// complete compares what a watch told with what happened between its first and
// its last event.
func (f *Finding) complete(client string, told []*history.Event, all []happening) {
	next, _ := slices.BinarySearchFunc(all, told[0].Index, func(a happening, index uint64) int { return cmp.Compare(a.index, index) })
	for i, e := range told {
		if e.F == history.Missed {
			for next < len(all) && all[next].index <= e.Index {
				next++
			}
			continue
		}
		got := happening{e.Index, e.F, e.Key, e.Epoch, e.Owner}
		for i == 0 && next < len(all) && all[next].index == got.index && all[next] != got {
			next++ // the watch began within the entry
		}
		if next < len(all) && all[next] == got {
			next++
			continue
		}
		want := "nothing"
		if next < len(all) {
			want = fmt.Sprintf("%s of %s at epoch %d at index %d", all[next].f, all[next].key, all[next].epoch, all[next].index)
		}
		f.violate(Violation{
			Rule: "complete", Claim: ClaimS, Key: e.Key,
			Sentence: fmt.Sprintf("watch %s told at %s: %s of %s at epoch %d at index %d, where the log has next: %s",
				client, at(e.T), e.F, e.Key, e.Epoch, e.Index, want),
		}, e)
		return // what follows is shifted
	}
}

// ownersByEpoch returns whom each epoch of each key was granted to, as far as
// log and answers tell. A key has an entry under epoch 0 if one of its grants
// may be unknown.
func ownersByEpoch(h *history.History, r *replayed) map[string]map[uint64]string {
	owners := make(map[string]map[uint64]string)
	note := func(key string, epoch uint64, owner string) {
		if owners[key] == nil {
			owners[key] = make(map[uint64]string)
		}
		owners[key][epoch] = owner
	}
	for i := range h.Ops {
		op := &h.Ops[i]
		switch {
		case op.Invoke.F != history.Acquire:
		case op.Outcome == history.OK:
			note(op.Invoke.Key, op.Complete.Epoch, op.Invoke.Owner)
		case op.Outcome == history.Info && len(r.commands) == 0:
			note(op.Invoke.Key, 0, op.Invoke.Owner)
		}
	}
	for _, v := range r.commands {
		if v.event.F == history.Acquire && v.applied {
			note(v.event.Key, v.epoch, v.owner)
		}
	}
	return owners
}

func (f *Finding) ownerIsTrue(owners map[string]map[uint64]string, e *history.Event, key, owner string, epoch uint64, who string) {
	granted, known := owners[key][epoch]
	if _, open := owners[key][0]; !known && open || known && granted == owner {
		return
	}
	truth := "nobody was granted it"
	if known {
		truth = "it was granted to " + granted
	}
	f.violate(Violation{
		Rule: "true", Claim: ClaimS, Key: key,
		Sentence: fmt.Sprintf("%s that %s has %s at epoch %d, but %s", who, owner, key, epoch, truth),
	}, e)
}
