package check

import (
	"fmt"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// rounding is what converting an instant from a clock with another rate may be
// off.
const rounding = time.Microsecond

// heard is how long a holder may take to act on an answer that has arrived,
// unless a fault strikes it.
const heard = 100 * time.Millisecond

// Gates is the checker of each holder by itself: a gate passes only inside its
// own tenure, after the grant was taken, before the fence that DESIGN's rule
// gives for it, and not after the holder stopped or was told that its tenure is
// lost; a write is acknowledged only
// if the same tenure's gate passed before it and again after it. It finds a
// fence that is too late even if nobody ran into it, and a missing second
// gate. It can't see two owners whose gates are each right by themselves, nor
// anything between the second gate and the acknowledgement, where a frozen
// process may stay for any time.
var Gates = Checker{
	Name:  "gates",
	Sees:  "a gate that passes outside its own tenure, and a write acknowledged without both gates",
	Blind: "the store, other owners, data",
	Needs: history.TellsGates,
	check: checkGates,
}

func checkGates(h *history.History, f *Finding) {
	tenures := Tenures(h)
	for _, key := range keysOf(tenures) {
		for _, t := range tenures[key] {
			for _, gate := range t.Gates {
				f.Looked++
				f.gate(h, t, gate)
			}
			for _, ack := range t.Acks {
				f.Looked++
				f.ack(t, ack)
			}
		}
	}
}

func (f *Finding) gate(h *history.History, t *Tenure, gate *history.Event) {
	hold := t.lastHold(gate.T)
	switch {
	case hold == nil:
		f.violateGate(t, gate, "before it had taken any grant")
	case t.Lost != nil && gate.T > t.Lost.Return+heard && !struck(h, gate.Client, t.Lost.Return, gate.T):
		f.violateGate(t, gate, fmt.Sprintf("%v after the store had said that the tenure is over, at %s", gate.T-t.Lost.Return, at(t.Lost.Return)), t.Lost.Complete)
	case t.Stop != nil && gate.T > t.Stop.T:
		f.violateGate(t, gate, fmt.Sprintf("%v after it stopped at %s", gate.T-t.Stop.T, at(t.Stop.T)), t.Stop)
	default:
		if late := t.late(gate, h.Terms.Timed); late >= 0 {
			f.violateGate(t, gate, fmt.Sprintf("%v past its fence", late), hold)
		}
	}
}

// struck reports whether a fault struck a host between two instants.
func struck(h *history.History, host string, from, to time.Duration) bool {
	return slices.ContainsFunc(h.Faults, func(s history.Span) bool {
		return s.From <= to && s.To >= from && slices.Contains(s.Event.Targets, host)
	})
}

// late returns by how much a gate passed at or after the furthest fence of the
// grants taken before it, negative if it was in time. Both are compared on the
// holder's own clock where the arena knows it; on the common clock only while
// clocks keep their rates.
func (t *Tenure) late(gate *history.Event, timed bool) time.Duration {
	var fence, until time.Duration
	for _, hold := range t.Holds {
		if hold.T <= gate.T {
			fence, until = max(fence, hold.Fence), max(until, hold.Until)
		}
	}
	switch {
	case until > 0 && gate.Reading > 0:
		return gate.Reading - until
	case fence > 0 && timed:
		return gate.T - fence - rounding
	}
	return -1
}

func (f *Finding) violateGate(t *Tenure, gate *history.Event, what string, proof ...*history.Event) {
	f.violate(Violation{
		Rule: "S3", Claim: ClaimA, Key: t.Key,
		Sentence: fmt.Sprintf("the gate of %s for %s at epoch %d passed at %s, %s", t.Owner, t.Key, t.Epoch, at(gate.T), what),
	}, append([]*history.Event{gate}, proof...)...)
}

func (f *Finding) ack(t *Tenure, ack *history.Event) {
	var before, after *history.Event
	for _, gate := range t.Gates {
		if gate.Value != ack.Value || gate.T > ack.T {
			continue
		}
		switch gate.N {
		case 1:
			before = gate
		case 2:
			after = gate
		}
	}
	missing := ""
	switch {
	case before == nil:
		missing = "no gate before the write"
	case after == nil || after.T < before.T:
		missing = "no gate after the write"
	default:
		return
	}
	f.violate(Violation{
		Rule: "W1", Claim: ClaimA, Key: t.Key,
		Sentence: fmt.Sprintf("%s acknowledged write %d of %s at epoch %d at %s with %s", t.Owner, ack.Value, t.Key, t.Epoch, at(ack.T), missing),
	}, ack, before, after)
}
