package check

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// A Tenure is one uninterrupted ownership as its holder saw it.
type Tenure struct {
	Key   string
	Owner string
	Epoch uint64
	// From is when the holder took the grant, To the last instant up to which
	// it would say, or did say, that it holds the key. A tenure that expired
	// and was resumed counts as held throughout: nobody else may have had the
	// key in between.
	From, To time.Duration
	Holds    []*history.Event // grants taken: the acquire's and the renewals'
	Gates    []*history.Event
	Acks     []*history.Event
	// Stop is the first event from which on the holder must not act: its own
	// word, or that it sent a release or a forget. Nil if there was none.
	Stop *history.Event
	// Lost is the first answer that told the holder that the tenure is over.
	// Nil if there was none.
	Lost *history.Op
}

// Tenures returns all tenures of which a holder told, by key and by the
// instant at which they began.
func Tenures(h *history.History) map[string][]*Tenure {
	all := make(map[tenureID]*Tenure)
	byKey := make(map[string][]*Tenure)
	for i := range h.Events {
		e := &h.Events[i]
		ends := e.Kind == history.Invoke && e.Epoch != 0 && (e.F == history.Release || e.F == history.Forget)
		switch e.Kind {
		case history.Hold, history.Gate, history.Ack, history.Stop:
		default:
			if !ends {
				continue
			}
		}
		of := tenureID{e.Key, e.Owner, e.Epoch}
		t := all[of]
		switch {
		case t == nil && ends:
			continue // nobody held it, as far as is told
		case t == nil:
			t = &Tenure{Key: e.Key, Owner: e.Owner, Epoch: e.Epoch, From: e.T, To: e.T}
			all[of] = t
			byKey[e.Key] = append(byKey[e.Key], t)
		}
		t.add(e)
	}
	for i := range h.Ops {
		if op := &h.Ops[i]; toldLost(h, op) {
			if t := all[tenureID{op.Invoke.Key, op.Invoke.Owner, op.Invoke.Epoch}]; t != nil && (t.Lost == nil || op.Return < t.Lost.Return) {
				t.Lost = op
			}
		}
	}
	for _, list := range byKey {
		for _, t := range list {
			t.measure()
		}
		slices.SortStableFunc(list, func(a, b *Tenure) int { return cmp.Compare(a.From, b.From) })
	}
	return byKey
}

type tenureID struct {
	key, owner string
	epoch      uint64
}

// toldLost reports whether an answer told a holder that its tenure is over. A
// renewal under another TTL than the run's is not its holder's: somebody else
// was told.
func toldLost(h *history.History, op *history.Op) bool {
	return op.Outcome == history.Fail && op.Complete.Err == history.Lost && op.Invoke.Epoch != 0 &&
		op.Invoke.F == history.Renew && op.Invoke.TTL == h.Terms.TTL
}

func (t *Tenure) add(e *history.Event) {
	switch e.Kind {
	case history.Hold:
		t.Holds = append(t.Holds, e)
	case history.Gate:
		t.Gates = append(t.Gates, e)
	case history.Ack:
		t.Acks = append(t.Acks, e)
	case history.Stop, history.Invoke:
		if t.Stop == nil {
			t.Stop = e
		}
	}
}

// measure sets To: the furthest fence, cut off by the stop, and every pass of
// a gate, which says that the holder did believe to hold.
func (t *Tenure) measure() {
	for _, hold := range t.Holds {
		end := hold.Fence // one that passed before it was taken moves nothing
		if t.Stop != nil {
			end = min(end, t.Stop.T)
		}
		if end > hold.T {
			t.To = max(t.To, end)
		}
	}
	for _, gate := range t.Gates {
		t.To = max(t.To, gate.T)
	}
}

// lastHold returns the newest grant that the holder had taken by the instant,
// nil if none.
func (t *Tenure) lastHold(by time.Duration) *history.Event {
	var last *history.Event
	for _, hold := range t.Holds {
		if hold.T <= by {
			last = hold
		}
	}
	return last
}

// keysOf returns the keys of a map in order, so that findings are told in the
// same order each time.
func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
