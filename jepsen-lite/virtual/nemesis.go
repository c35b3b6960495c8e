package virtual

import (
	"context"
	"slices"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

// strike carries out the plan's faults, counted from an instant of the run,
// and returns at the end of the safety phase, when all are healed.
func (a *arena) strike(begun time.Duration) {
	var wg sync.WaitGroup
	over := begun + time.Duration(a.plan.Safety)
	for i := range a.plan.Faults {
		f := &a.plan.Faults[i]
		wg.Go(func() {
			switch {
			case !a.sleep(begun + time.Duration(f.At) - a.now()):
			case f.Waits():
				a.lieInWait(f, over)
			default:
				a.fault(f)
			}
		})
	}
	wg.Wait()
	a.sleep(over - a.now())
}

// fault takes one fault, heals it when its time is over, and probes both.
func (a *arena) fault(f *plan.Fault) {
	id, targets := a.nextID(), a.resolve(f.Targets)
	e := history.Event{Kind: history.Fault, F: f.Kind, ID: id, Targets: a.withEmbedded(targets)}
	if f.Rate != nil {
		e.Rate = *f.Rate
	}
	a.record(e)
	heal := a.take(f, targets)
	a.sleep(time.Duration(f.For))
	if heal != nil {
		heal()
	}
	a.record(history.Event{Kind: history.Heal, ID: id})
}

// resolve names the hosts of targets, and the present leader where one says so;
// targets of a leader that there is not are left out.
func (a *arena) resolve(targets []string) []string {
	leader := a.leader()
	var out []string
	for _, target := range targets {
		if from, to, link := plan.Ends(target); link {
			from, to = a.actual(from, leader), a.actual(to, leader)
			if from != "" && to != "" && from != to {
				out = append(out, plan.Link(from, to))
			}
		} else if host := a.actual(target, leader); host != "" {
			out = append(out, host)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (a *arena) actual(host, leader string) string {
	if host == plan.Leader {
		return leader
	}
	return a.plan.HostOf(host)
}

// take takes a fault and returns what heals it, nil if it is over already. Both
// probe what they did, and fail the run if a probe does not confirm it.
func (a *arena) take(f *plan.Fault, targets []string) (heal func()) {
	take := takes[f.Kind]
	if take == nil {
		a.fail("the virtual arena has no fault %q", f.Kind)
		return nil
	}
	return take(a, f, targets)
}

// takes has how each kind of fault is taken.
var takes = map[string]take{
	plan.Partition:   (*arena).partition,
	plan.Slow:        (*arena).slow,
	plan.Throttle:    (*arena).throttle,
	plan.Reset:       (*arena).reset,
	plan.HalfOpen:    (*arena).halfOpen,
	plan.Kill:        (*arena).kill,
	plan.KillHolder:  (*arena).killReplicas,
	plan.Pause:       (*arena).pause,
	plan.PauseHolder: (*arena).pauseReplicas,
	plan.Suspend:     (*arena).suspend,
	plan.Clock:       (*arena).setClocks,
	plan.ClockJump:   (*arena).jumpClocks,
	plan.DiskFail:    (*arena).failDisks,
	plan.DiskSlow:    (*arena).slowDisks,
	plan.DiskHang:    (*arena).hangDisks,
	plan.DiskFull:    (*arena).fillDisks,
	plan.BitFlip:     (*arena).flipBits,
	plan.Membership:  (*arena).changeMembers,
	plan.Transfer:    (*arena).transfer,
}

// transfer asks each target's node to lead. It need not succeed: under other
// faults there may be nobody to hand over.
func (a *arena) transfer(_ *plan.Fault, names []string) func() {
	for _, name := range names {
		n, _ := a.nodes[name].running()
		if n == nil {
			continue
		}
		leader, term := a.leader(), a.term()
		ctx, cancel := context.WithTimeout(a.ctx, time.Second)
		err := n.Transfer(ctx, name)
		cancel()
		switch {
		case err != nil:
			a.note("transfer to " + name + ": " + err.Error())
		case leader != name && a.leader() != name && a.term() <= term:
			a.fail("leadership was handed over from %s to %s in term %d, and no node knows a later one", leader, name, term)
		}
	}
	return nil
}

// term returns the highest term that any node knows.
func (a *arena) term() (term uint64) {
	for _, s := range a.nodes {
		if n, _ := s.running(); n != nil {
			term = max(term, n.Status().Term)
		}
	}
	return term
}
