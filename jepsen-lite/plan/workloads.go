package plan

import (
	"slices"
	"strconv"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// The workloads.
const (
	Contended = "contended" // replicas contend for the plan's keys and write to their durable copies through the gate
	Batches   = "batches"   // each replica holds many keys, which are renewed in batches, and tries for some of the others'
	TTLs      = "ttls"      // renewals and repeated acquires ask for another TTL every time
	Ledger    = "ledger"    // as contended, over the files of the example's ledger store
)

// Workloads are the names of all workloads.
func Workloads() []string { return []string{Contended, Batches, TTLs, Ledger} }

// The number of keys of each workload but Contended, whose number the plan
// says.
const (
	fewestBatch  = 100
	mostBatch    = 300
	changingKeys = 2
	ledgerKeys   = 1
)

// KeyName returns the name of the i-th key that is contended for, from 0.
func KeyName(i int) string { return "k" + strconv.Itoa(i+1) }

// KeysOf returns the keys of one of the plan's workloads.
func (p *Plan) KeysOf(workload string) []string {
	switch workload {
	case Batches:
		// About three hundred renewals a second, whatever the TTL.
		return numbered("b", min(max(fewestBatch, int(p.TTL/Duration(10*time.Millisecond))), mostBatch))
	case TTLs:
		return numbered("t", changingKeys)
	case Ledger:
		return numbered("l", ledgerKeys)
	}
	return numbered("k", p.Keys)
}

// Tells returns what a run of the plan tells, of what its arena can.
func (p *Plan) Tells(arena ...string) []string {
	return slices.DeleteFunc(arena, func(what string) bool {
		switch what {
		case history.TellsData:
			return !p.writes()
		case history.TellsGates:
			return !p.writes() && !p.Works(Batches)
		}
		return false
	})
}

// AnyKey draws a key with draw, which returns a number below that which it is
// given. A workload with few keys has them drawn as often as one with many.
func (p *Plan) AnyKey(draw func(n int) int) string {
	keys := p.KeysOf(p.Workload[draw(len(p.Workload))])
	return keys[draw(len(keys))]
}

// Works reports whether the plan has a workload.
func (p *Plan) Works(workload string) bool { return slices.Contains(p.Workload, workload) }

func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = prefix + strconv.Itoa(i+1)
	}
	return names
}

// workload draws which workloads exist. Contended does, unless others are
// given: most faults are of no use without writes.
func (d *drawing) workload(given []string) {
	d.plan.Workload = given
	if len(given) > 0 {
		return
	}
	d.plan.Workload = []string{Contended}
	for _, name := range Workloads()[1:] {
		if d.one(3) {
			d.plan.Workload = append(d.plan.Workload, name)
		}
	}
}
