package virtual

import (
	"slices"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/workload"
)

// A trap waits for a replica, in whichever incarnation, to come to a point of
// its work, and strikes it there.
type trap struct {
	replica string
	point   workload.Point
	kills   bool          // the process is dead from then on; else it stands still
	sprung  chan *process // gets the one that was struck
}

// lieInWait takes a fault at each of its targets that comes to the fault's
// point before an instant of the run, and heals it by then.
func (a *arena) lieInWait(f *plan.Fault, over time.Duration) {
	var wg sync.WaitGroup
	for _, name := range f.Targets {
		t := &trap{name, workload.Point(f.Point), f.Kind == plan.KillSuccessor, make(chan *process, 1)}
		wg.Go(func() {
			if p := a.catch(t, over); p != nil {
				a.hold(f, p, over)
			}
		})
	}
	wg.Wait()
}

// catch returns the process that walked into a trap, nil if none did in time.
func (a *arena) catch(t *trap, over time.Duration) *process {
	a.mu.Lock()
	a.traps = append(a.traps, t)
	a.mu.Unlock()
	select {
	case p := <-t.sprung:
		return p
	case <-time.After(over - a.now()):
	case <-a.ctx.Done():
	}
	if a.disarm(t) {
		return nil
	}
	return <-t.sprung // at the last moment
}

// disarm takes a trap away, and reports whether it was still waiting.
func (a *arena) disarm(t *trap) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(a.traps, t)
	if i >= 0 {
		a.traps = slices.Delete(a.traps, i, i+1)
	}
	return i >= 0
}

// hold keeps a process as its trap left it for as long as the fault stands.
func (a *arena) hold(f *plan.Fault, p *process, over time.Duration) {
	id := a.nextID()
	a.record(history.Event{Kind: history.Fault, F: f.Kind, ID: id, Targets: []string{p.name}, Msg: "at " + f.Point})
	heal := p.resume
	host := []string{a.plan.HostOf(p.name)}
	switch {
	case f.Kind == plan.KillSuccessor:
		heal = a.killReplicas(f, host)
	case a.serverOf(p.name) != nil:
		goOn := a.pause(f, host)
		heal = func() {
			goOn()
			p.resume()
		}
	}
	a.sleep(min(time.Duration(f.For), over-a.now()))
	heal()
	a.record(history.Event{Kind: history.Heal, ID: id})
}

// spring lets a process that has come to a point walk into the trap that waits
// for it there, if there is one.
func (a *arena) spring(p *process, at workload.Point) {
	t := a.trapFor(p.name, at)
	switch {
	case t == nil || !a.disarm(t):
		return
	case t.kills:
		p.kill()
	default:
		p.pause()
	}
	t.sprung <- p
}

func (a *arena) trapFor(replica string, at workload.Point) *trap {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.traps {
		if t.replica == replica && t.point == at {
			return t
		}
	}
	return nil
}
