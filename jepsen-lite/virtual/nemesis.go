package virtual

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

// strike carries out the plan's faults, counted from an instant of the run,
// and returns at the end of the safety phase, when all are healed.
func (a *arena) strike(begun time.Duration) {
	var wg sync.WaitGroup
	for i := range a.plan.Faults {
		f := &a.plan.Faults[i]
		wg.Go(func() {
			if a.sleep(begun + time.Duration(f.At) - a.now()) {
				a.fault(f)
			}
		})
	}
	wg.Wait()
	a.sleep(begun + time.Duration(a.plan.Safety) - a.now())
}

// fault takes one fault, heals it when its time is over, and probes both.
func (a *arena) fault(f *plan.Fault) {
	id, targets := a.nextID(), a.resolve(f.Targets)
	e := history.Event{Kind: history.Fault, F: f.Kind, ID: id, Targets: targets}
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

// resolve names the present leader where a target says so; targets of a leader
// that there is not are left out.
func (a *arena) resolve(targets []string) []string {
	leader := a.leader()
	var out []string
	for _, target := range targets {
		if from, to, link := plan.Ends(target); link {
			from, to = actual(from, leader), actual(to, leader)
			if from != "" && to != "" && from != to {
				out = append(out, plan.Link(from, to))
			}
		} else if host := actual(target, leader); host != "" {
			out = append(out, host)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func actual(host, leader string) string {
	if host == plan.Leader {
		return leader
	}
	return host
}

// take takes a fault and returns what heals it.
func (a *arena) take(f *plan.Fault, targets []string) func() {
	switch f.Kind {
	case plan.Partition:
		return a.partition(targets)
	case plan.Slow:
		return a.slow(f, targets)
	case plan.Kill:
		return a.kill(targets)
	case plan.KillHolder:
		return a.killHolders(targets)
	case plan.PauseHolder:
		return a.pauseHolders(targets)
	case plan.Clock:
		return a.setClocks(*f.Rate, targets)
	case plan.DiskFail:
		return a.failDisks(targets)
	case plan.DiskSlow:
		return a.slowDisks(f, targets)
	case plan.DiskHang:
		return a.hangDisks(targets)
	case plan.Transfer:
		a.transfer(targets)
		return nil
	}
	a.fail("the virtual arena has no fault %q", f.Kind)
	return nil
}

func (a *arena) partition(links []string) func() {
	for _, l := range links {
		from, to, _ := plan.Ends(l)
		a.net.Cut(from, to)
		if _, passes := a.net.Ping(from, to); passes {
			a.fail("the link %s was cut and passes a packet", l)
		}
	}
	return func() {
		for _, l := range links {
			from, to, _ := plan.Ends(l)
			a.net.Heal(from, to)
		}
	}
}

func (a *arena) slow(f *plan.Fault, links []string) func() {
	set := func(delay, jitter time.Duration) {
		for _, l := range links {
			from, to, _ := plan.Ends(l)
			a.net.Slow(from, to, delay, jitter)
			if takes, _ := a.net.Ping(from, to); takes < delay {
				a.fail("a packet on the link %s takes %v, which was to be slowed by %v", l, takes, delay)
			}
		}
	}
	set(time.Duration(f.Delay), time.Duration(f.Jitter))
	return func() { set(0, 0) }
}

func (a *arena) kill(names []string) func() {
	for _, name := range names {
		a.bringDown(a.nodes[name])
	}
	return func() {
		for _, name := range names {
			a.restart(a.nodes[name])
		}
	}
}

// bringDown crashes a node and keeps it down, once more; restart takes one
// such back.
func (a *arena) bringDown(s *server) {
	s.mu.Lock()
	s.down++
	s.mu.Unlock()
	s.turn <- struct{}{}
	s.crash()
	<-s.turn
	if a.answers(s.name) {
		a.fail("node %s was killed and answers", s.name)
	}
}

// restart starts a node again when the last fault that keeps it down is over.
// Another may strike at every step: then the node need not answer.
func (a *arena) restart(s *server) {
	s.mu.Lock()
	s.down--
	s.mu.Unlock()
	s.turn <- struct{}{}
	run, err := s.revive()
	<-s.turn
	switch {
	case err != nil:
		a.fail("%w", err)
	case run > 0 && !a.answers(s.name) && s.stands(run):
		a.fail("node %s was started and does not answer", s.name)
	}
}

// answers reports whether a node accepts a connection from a host that no
// fault strikes.
func (a *arena) answers(name string) bool {
	ctx, cancel := context.WithTimeout(a.ctx, time.Second)
	defer cancel()
	c, err := a.net.Host("probe").Dial(ctx, addr(name))
	if err != nil {
		return false
	}
	_ = c.Close() // of a probe
	return true
}

func (a *arena) killHolders(names []string) func() {
	for _, name := range names {
		if p := a.process(name); p != nil {
			a.mu.Lock()
			a.processes[name] = nil
			a.mu.Unlock()
			p.die()
		}
	}
	return func() {
		for _, name := range names {
			if a.process(name) == nil && a.ctx.Err() == nil {
				a.begin(name)
			}
		}
	}
}

func (a *arena) pauseHolders(names []string) func() {
	var paused []*process
	for _, name := range names {
		if p := a.process(name); p != nil {
			p.pause()
			paused = append(paused, p)
		}
	}
	return func() {
		for _, p := range paused {
			p.resume()
		}
	}
}

func (a *arena) setClocks(rate float64, hosts []string) func() {
	set := func(rate float64) {
		for _, host := range hosts {
			a.mu.Lock()
			a.rates[host] = rate
			a.mu.Unlock()
			if strings.HasPrefix(host, "n") {
				a.nodes[host].setRate(rate)
			} else if p := a.process(host); p != nil {
				p.clock.SetRate(rate)
			}
		}
	}
	set(rate)
	return func() { set(1) }
}

// transfer asks each target's node to lead. It need not succeed: under other
// faults there may be nobody to hand over.
func (a *arena) transfer(names []string) {
	for _, name := range names {
		n, _ := a.nodes[name].running()
		if n == nil {
			continue
		}
		ctx, cancel := context.WithTimeout(a.ctx, time.Second)
		if err := n.Transfer(ctx, name); err != nil {
			a.note("transfer to " + name + ": " + err.Error())
		}
		cancel()
	}
}
