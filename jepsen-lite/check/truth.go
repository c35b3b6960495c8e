package check

import (
	"fmt"

	"example.com/tenure/jepsen-lite/history"
)

// Truth is the checker of what is told without asking the cluster: watches and
// local lookups. A watch tells events in the order of the log, none that did
// not happen, and all between its first and its last but those that it says it
// missed; and one that stood until everything was quiet tells the last of them,
// too. A local lookup may be old but names only tenures that were granted, to
// the owner that they were granted to. Where there is no committed log it
// compares with the answers of acquires, and then an event that was left out
// goes unseen. It does not judge how fresh a lookup is.
var Truth = Checker{
	Name:  "truth",
	Sees:  "a watch or a local lookup that tells what did not happen, out of order, or with holes, or falls silent",
	Blind: "how late it is told; without a log, events that were left out",
	Needs: history.TellsWatch,
	check: checkTruth,
}

func checkTruth(h *history.History, f *Finding) {
	watches := watchesOf(h)
	r := replay(h)
	happened := r.events()
	owners := ownersByEpoch(h, r)
	for _, client := range keysOf(watches) {
		w := watches[client]
		f.Looked += len(w.told)
		f.inOrder(w)
		if len(r.commands) > 0 {
			f.complete(w, happened)
		}
		for _, e := range w.told {
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
