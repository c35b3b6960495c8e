package virtual

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure"
	"example.com/tenure/node"
)

// A standstill makes a process stand still at its seams, as SIGSTOP would at
// any instruction. A nil one lets everything pass. What the process does between
// two seams, and what it times by the runtime's own clock, goes on: nobody sees
// anything of it until it goes on.
type standstill struct {
	mu      sync.Mutex
	changed *sync.Cond
	holds   int // faults that make it stand still
	dead    bool
}

func newStandstill() *standstill {
	s := &standstill{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// pass blocks while the process stands still, and reports whether it lives.
func (s *standstill) pass() bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.holds > 0 && !s.dead {
		s.changed.Wait()
	}
	return !s.dead
}

// hold makes the process stand still, once more; release takes one hold back.
func (s *standstill) hold() { s.change(func() { s.holds++ }) }

func (s *standstill) release() { s.change(func() { s.holds-- }) }

// end ends the process: whoever stands still learns that it is dead.
func (s *standstill) end() { s.change(func() { s.dead = true }) }

func (s *standstill) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.changed.Broadcast()
}

// A stillClock is the clock of a process: it goes on while the process stands
// still, but the process does not notice.
type stillClock struct {
	*Clock
	still *standstill
}

// AfterFunc implements tenure.Clock.
func (c stillClock) AfterFunc(d time.Duration, f func()) tenure.Timer {
	return c.Clock.AfterFunc(d, func() {
		if c.still.pass() {
			f()
		}
	})
}

// A stillDisk is a disk as a process has it.
type stillDisk struct {
	*Disk
	still *standstill
}

// Open implements node.Storage.
func (d stillDisk) Open(logger hclog.Logger) (node.Stores, error) { return d.open(logger, d.still) }
