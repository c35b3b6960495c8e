package virtual

import (
	"time"

	"example.com/tenure/jepsen-lite/plan"
)

// diskTimeout is how long the disk of a node may hang before the node stops
// for good, which some hangs outlast.
const diskTimeout = 5 * time.Second

// failDisks makes the disks of nodes fail. A node stops for good as soon as a
// write does; once the disk works again it is started anew.
func (a *arena) failDisks(_ *plan.Fault, names []string) func() {
	return a.onDisks(names, (*Disk).Fail, (*server).crash)
}

// fillDisks leaves no room on the disks of nodes, which has the same effect.
func (a *arena) fillDisks(_ *plan.Fault, names []string) func() {
	return a.onDisks(names, (*Disk).Fill, (*server).crash)
}

// hangDisks makes the disks of nodes hang. A node that has stopped for it is
// started anew.
func (a *arena) hangDisks(_ *plan.Fault, names []string) func() {
	return a.onDisks(names, (*Disk).Hang, func(*server) {})
}

// onDisks takes a fault of disks and returns what heals it, after which is
// called with each server's turn.
func (a *arena) onDisks(names []string, take func(*Disk) func(), after func(*server)) func() {
	heals := make([]func(), len(names))
	for i, name := range names {
		s := a.nodes[name]
		disk := s.excuse()
		heal := take(disk)
		a.probeDisk(name, disk)
		heals[i] = func() {
			heal()
			a.probeDisk(name, disk)
			s.turn <- struct{}{}
			after(s)
			<-s.turn
			a.restart(s)
		}
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}

// probeDisk fails the run if a disk does not do what its faults say.
func (a *arena) probeDisk(name string, disk *Disk) {
	if err := disk.Probe(); err != nil {
		a.fail("the disk of %s: %w", name, err)
	}
}

func (a *arena) slowDisks(f *plan.Fault, names []string) func() {
	heals := make([]func(), len(names))
	for i, name := range names {
		disk := a.nodes[name].disk()
		heal := disk.Slow(time.Duration(f.Delay))
		a.probeDisk(name, disk)
		heals[i] = func() {
			heal()
			a.probeDisk(name, disk)
		}
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}

// excuse lets the node stop by itself, and keeps others from starting it,
// until restart takes it back. It returns the node's disk.
func (s *server) excuse() *Disk {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.struck()
	s.excused[s.runs] = true
	return s.disks[len(s.disks)-1]
}

// mayStopNow excuses the present incarnation.
func (s *server) mayStopNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.excused[s.runs] = true
}

// mayStop reports whether an incarnation has an excuse to stop by itself.
func (s *server) mayStop(run int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.excused[run]
}

// stopsWithin is how long a node may go on after one of its writes has failed.
const stopsWithin = time.Second

// mustStop fails the run if the node goes on after one of its writes has
// failed: it could acknowledge what is not on its disk.
func (s *server) mustStop() {
	n, run := s.running()
	if n == nil {
		return // it is being opened: that fails
	}
	s.arena.left.Go(func() {
		time.Sleep(stopsWithin)
		if now, still := s.running(); now == n && still == run && n.Err() == nil {
			s.arena.breach(s.name, "goes on, and one of its writes has failed %v ago", stopsWithin)
		}
	})
}
