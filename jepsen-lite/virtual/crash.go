package virtual

import (
	"context"
	"time"

	"example.com/tenure/jepsen-lite/plan"
)

// kill crashes nodes. They start again from their disks.
func (a *arena) kill(_ *plan.Fault, names []string) func() {
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
	s.struck()
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
	undisturbed := s.undisturbed(run)
	switch {
	case err != nil:
		a.breach(s.name, "does not start again: %v", err)
	case run > 0 && !a.answers(s.name) && undisturbed():
		a.breach(s.name, "was started and does not answer")
	}
}

// answers reports whether the process of a node answers a request from a host
// that no fault strikes.
func (a *arena) answers(name string) bool { return a.answersWithin(name, time.Second) }

func (a *arena) answersWithin(name string, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(a.ctx, patience)
	defer cancel()
	c, err := a.net.Host("probe").Dial(ctx, addr(name))
	if err != nil {
		return false
	}
	defer c.Close()
	deadline, _ := ctx.Deadline()
	_ = c.SetDeadline(deadline)
	if _, err := c.Write([]byte("GET /healthz HTTP/1.0\r\n\r\n")); err != nil {
		return false
	}
	n, _ := c.Read(make([]byte, 1))
	return n > 0
}
