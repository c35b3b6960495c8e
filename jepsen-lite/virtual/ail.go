package virtual

import (
	"time"

	"example.com/tenure/jepsen-lite/plan"
)

// diskTimeout is how long the disk of a node may hang before the node stops
// for good, which some hangs outlast.
const diskTimeout = 5 * time.Second

// patience is how long a probe of a disk waits.
const patience = 10 * time.Millisecond

// failDisks makes the disks of nodes fail. A node stops for good as soon as a
// write of its log does; once the disk works again it is started anew.
func (a *arena) failDisks(names []string) func() {
	var heals []func()
	for _, name := range names {
		s := a.nodes[name]
		s.excuse()
		heals = append(heals, s.disk.Fail())
		if _, err := s.disk.Probe(patience); err == nil {
			a.fail("the disk of %s was to fail and works", name)
		}
	}
	return func() {
		for i, name := range names {
			s := a.nodes[name]
			heals[i]()
			s.turn <- struct{}{}
			s.crash()
			<-s.turn
			a.restart(s)
		}
	}
}

// hangDisks makes the disks of nodes hang. A node that has stopped for it is
// started anew.
func (a *arena) hangDisks(names []string) func() {
	var heals []func()
	for _, name := range names {
		s := a.nodes[name]
		s.excuse()
		heals = append(heals, s.disk.Hang())
		if _, err := s.disk.Probe(patience); err == nil {
			a.fail("the disk of %s was to hang and works", name)
		}
	}
	return func() {
		for i, name := range names {
			s := a.nodes[name]
			heals[i]()
			a.sleep(patience) // one that is about to stop does
			s.turn <- struct{}{}
			if n, _ := s.running(); n != nil && n.Err() != nil {
				s.crash()
			}
			<-s.turn
			a.restart(s)
		}
	}
}

func (a *arena) slowDisks(f *plan.Fault, names []string) func() {
	var heals []func()
	delay := time.Duration(f.Delay)
	for _, name := range names {
		s := a.nodes[name]
		heals = append(heals, s.disk.Slow(delay))
		if takes, _ := s.disk.Probe(delay + patience); takes < delay {
			a.fail("a write to the disk of %s takes %v, which was to be slowed by %v", name, takes, delay)
		}
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}

// excuse lets the node stop by itself, and keeps others from starting it,
// until restart takes it back.
func (s *server) excuse() {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down++
	s.excused[s.runs] = true
}

// mayStop reports whether an incarnation has an excuse to stop by itself.
func (s *server) mayStop(run int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.excused[run]
}
