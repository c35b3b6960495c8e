package virtual

import (
	"time"

	"example.com/tenure/jepsen-lite/plan"
)

// pause makes nodes stand still. A node that has stopped by itself when it goes
// on, because its disk seems to have hung, is started anew.
func (a *arena) pause(_ *plan.Fault, names []string) func() {
	heals := make([]func(), len(names))
	for i, name := range names {
		heals[i] = a.standStill(a.nodes[name])
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}

// standStill makes the process of a server stand still, and returns what lets it go
// on.
func (a *arena) standStill(s *server) (goOn func()) {
	s.excuse()
	s.mu.Lock()
	n, host, still, run := s.node, s.host, s.still, s.runs
	s.mu.Unlock()
	if n == nil {
		return func() { a.restart(s) } // another fault keeps it down
	}
	still.hold()
	host.Freeze()
	if a.answersWithin(s.name, 4*leeway) {
		a.fail("node %s was made to stand still and answers", s.name)
	}
	return func() {
		still.release()
		host.Thaw()
		time.Sleep(leeway) // for one that is about to stop
		a.restart(s)
		if undisturbed := s.undisturbed(run); undisturbed() && !a.answers(s.name) && undisturbed() {
			a.fail("node %s goes on and does not answer", s.name)
		}
	}
}

// suspend makes hosts stand still, with all that runs on them: nothing gets to
// them or from them, not even from their systems, and their clocks count the
// time that they missed when they go on, or they don't.
func (a *arena) suspend(f *plan.Fault, hosts []string) func() {
	heals := make([]func(), len(hosts))
	for i, host := range hosts {
		heals[i] = a.suspendHost(host, f.Counted)
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}

func (a *arena) suspendHost(host string, counted bool) (goOn func()) {
	process := a.standStillOn(host)
	a.mu.Lock()
	clock := a.clocks[host]
	a.mu.Unlock()
	if !counted {
		clock.Hold()
		a.probeClock(host, clock)
	}
	network := a.isolate(host)
	return func() {
		network()
		if !counted {
			clock.Release()
			a.probeClock(host, clock)
		}
		process()
	}
}

// standStillOn makes the process on a host stand still, keeps another one from
// being started there, and returns what takes both back.
func (a *arena) standStillOn(host string) (goOn func()) {
	if s := a.nodes[host]; s != nil {
		return a.standStill(s)
	}
	a.keepDown(host)
	resume := a.pauseHolders(nil, []string{host})
	return func() {
		resume()
		a.letUp(host)
	}
}

// isolate cuts all links of a host, and returns what heals them.
func (a *arena) isolate(host string) func() {
	others := []string{"reader", "probe"}
	for i := range a.plan.Nodes {
		others = append(others, plan.NodeName(i))
	}
	for i := range a.plan.Replicas {
		others = append(others, plan.ReplicaName(i))
	}
	var links []string
	for _, other := range others {
		if other != host {
			links = append(links, plan.Link(host, other), plan.Link(other, host))
		}
	}
	return a.partition(nil, links)
}
