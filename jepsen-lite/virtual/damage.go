package virtual

import (
	"strings"

	"example.com/tenure/jepsen-lite/plan"
)

// flipBits flips a bit at rest on the disks of nodes. A node must refuse to
// start from it, and name what is damaged; only a snapshot may be passed over,
// for an older one that the log goes on from. In the end the bit is flipped
// back, or the node is removed and joins with an empty disk.
func (a *arena) flipBits(_ *plan.Fault, names []string) func() {
	heals := make([]func(), len(names))
	for i, name := range names {
		heals[i] = a.flipBit(a.nodes[name])
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}

func (a *arena) flipBit(s *server) (heal func()) {
	a.bringDown(s)
	s.turn <- struct{}{}
	disk := s.disk()
	of, back, err := disk.Flip()
	switch {
	case err != nil:
		a.fail("flip a bit of %s: %w", s.name, err)
		back = func() {}
	case of == "":
		a.note("no bit of " + s.name + " flips: its disk is empty")
	default:
		a.probeFlip(s, of)
	}
	<-s.turn
	return func() {
		if of == "" || disk.draw(2) == 0 || !a.rejoin(s) {
			back()
			a.restart(s)
		}
	}
}

// probeFlip starts a node from a disk with a flipped bit. The caller holds the
// server's turn.
func (a *arena) probeFlip(s *server, of part) {
	err := s.start()
	switch {
	case err == nil && of != inSnapshot:
		a.breach(s.name, "starts, and a bit is flipped in %s", of)
	case err != nil && of != inSnapshot && !strings.Contains(err.Error(), diskName+" is damaged"):
		a.breach(s.name, "does not name what is damaged, which is %s: %v", of, err)
	case err != nil:
		a.note(err.Error())
	default:
		s.mayStopNow() // other faults may strike its disk
	}
}

// rejoin lets a node that is kept down join anew with an empty disk, and
// reports false if it may not leave.
func (a *arena) rejoin(s *server) bool {
	if !a.mayChange() {
		return false
	}
	defer func() { <-a.changing }()
	if !a.mayLeave(s.name) {
		return false
	}
	a.replaceDisk(s)
	a.restart(s)
	a.awaitMember(s)
	return true
}
