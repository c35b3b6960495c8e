package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// The rows of the coverage table: what must have happened for a clean run to
// mean anything.
const (
	Takeovers        = "takeovers"         // tenures that others ended without a release
	UnknownOutcomes  = "unknown_outcomes"  // asks of the store that were never answered
	SecondGates      = "second_gates"      // writes refused by the gate after them
	NearFence        = "near_fence"        // renewals taken in the last tenth before the fence
	LeaderChanges    = "leader_changes"    // terms with a leader, but the first
	Snapshots        = "snapshots"         // snapshots installed
	ForgetsDone      = "forgets"           // forgets answered
	HolderPauses     = "holder_pauses"     // holders paused for longer than a TTL
	HandedOver       = "handovers"         // tenures that followed a release
	AcknowledgedData = "acknowledged_data" // writes acknowledged
	Successions      = "successions"       // owners of a fleet's keys that followed another, as far as answers tell
	ListedKeys       = "listed_keys"       // keys of a fleet that were listed after everything was healed
)

// A Covered is one row of the coverage table.
type Covered struct {
	Name   string `json:"name"`
	Seen   int    `json:"seen"`
	Wanted int    `json:"wanted"` // by the plan
}

func (c Covered) lack() string {
	return fmt.Sprintf("coverage: the plan calls for at least %d %s, and there were %d", c.Wanted, c.Name, c.Seen)
}

// Rows are the names in the order of the table.
var Rows = []string{
	Takeovers, HandedOver, UnknownOutcomes, SecondGates, NearFence, LeaderChanges, Snapshots, ForgetsDone, HolderPauses, AcknowledgedData,
	Successions, ListedKeys,
}

// Cover counts what happened, and what the plan called for.
func Cover(h *history.History) []Covered {
	seen := make(map[string]int)
	ops := h.ByKey()
	for _, key := range keysOf(ops) {
		coverTenures(seen, ops[key])
	}
	terms := make(map[uint64]bool)
	for i := range h.Events {
		switch e := &h.Events[i]; e.Kind {
		case history.Leader:
			terms[e.Term] = true
		case history.Snapshot:
			seen[Snapshots]++
		case history.Ack:
			seen[AcknowledgedData]++
		}
	}
	seen[LeaderChanges] = max(0, len(terms)-1)
	tenures := Tenures(h)
	for _, s := range h.Faults {
		if pauses[s.Event.F] && min(s.To, h.Last())-s.From > h.Terms.TTL && strikesHolder(&s, tenures) {
			seen[HolderPauses]++
		}
	}
	for _, list := range tenures {
		for _, t := range list {
			seen[NearFence] += t.nearFence()
		}
	}
	coverFleet(seen, h, ops)
	table := make([]Covered, 0, len(Rows))
	for _, name := range Rows {
		table = append(table, Covered{name, seen[name], h.Terms.Coverage[name]})
	}
	return table
}

// pauses are the faults that let a replica stand still.
var pauses = map[string]bool{"pause-holder": true, "pause-gate": true, "pause-successor": true, "suspend": true}

// asksStore has what changes a key's record, or a fleet's ledger.
var asksStore = map[string]bool{
	history.Acquire: true, history.Renew: true, history.Release: true, history.Forget: true, history.Put: true,
}

// strikesHolder reports whether a target of the fault held a key when it
// struck.
func strikesHolder(s *history.Span, tenures map[string][]*Tenure) bool {
	for _, list := range tenures {
		for _, t := range list {
			replica, _, _ := strings.Cut(t.Owner, "/")
			if t.From <= s.From && s.From <= t.To && slices.Contains(s.Event.Targets, replica) {
				return true
			}
		}
	}
	return false
}

func coverTenures(seen map[string]int, ops []*history.Op) {
	released := make(map[uint64]bool)
	granted := make(map[uint64]string)
	first := make(map[*history.Op]bool)
	for _, op := range ops {
		switch {
		case op.Invoke.F == history.Write && op.Complete != nil && op.Complete.Err == history.Fenced && op.Complete.N == 2:
			seen[SecondGates]++
		case op.Outcome == history.Info && asksStore[op.Invoke.F]:
			seen[UnknownOutcomes]++
		case op.Outcome != history.OK:
		case op.Invoke.F == history.Put:
			seen[AcknowledgedData]++
		case op.Invoke.F == history.Forget, op.Invoke.F == history.Release && op.Invoke.Forget:
			seen[ForgetsDone]++
			released[op.Invoke.Epoch] = released[op.Invoke.Epoch] || op.Invoke.F == history.Release
		case op.Invoke.F == history.Release:
			released[op.Invoke.Epoch] = true
		case op.Invoke.F == history.Acquire && granted[op.Complete.Epoch] == "":
			granted[op.Complete.Epoch] = op.Invoke.Owner
			first[op] = true
		}
	}
	for op := range first {
		switch before := granted[op.Complete.Epoch-1]; {
		case released[op.Complete.Epoch-1]:
			seen[HandedOver]++
		case before != "" && before != op.Invoke.Owner:
			seen[Takeovers]++
		}
	}
}

// nearFence counts the renewals that were taken in the last tenth of the time
// before the fence of the grant before.
func (t *Tenure) nearFence() int {
	n := 0
	for i, hold := range t.Holds[min(1, len(t.Holds)):] {
		before := t.Holds[i]
		usable := before.Fence - before.Sent
		if left := before.Fence - hold.T; before.Fence > 0 && left > 0 && left <= usable/10+time.Nanosecond {
			n++
		}
	}
	return n
}
