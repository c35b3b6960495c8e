package workload

import (
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

// A Journal is where a process writes down what it does. All methods can be
// called concurrently, and block for no fault.
type Journal interface {
	// Now returns how long the run goes on, on the clock that is common to all
	// of its processes.
	Now() time.Duration
	// Record writes an event. One without an instant has the present one.
	Record(e history.Event)
	// NextID returns an id of an operation that no process of the run has had.
	NextID() uint64
}

// A Clock is the clock of one process, which may run at another rate than true
// time.
type Clock interface {
	tenure.Clock
	// After returns how long it takes in true time until the clock reads t, if
	// it keeps its rate, and whether it ever does.
	After(t time.Duration) (wait time.Duration, ever bool)
}

// Copies are the durable copies of all keys, which outlive every process.
type Copies interface {
	// Do carries a command out, durably when it returns. An error leaves its
	// outcome unknown.
	Do(c Command) (Answer, error)
}

// A Point is a step of a process's work at which it may be made to stand still
// or to die: see the plan's constants, of which these are.
type Point string

// The points.
const (
	BeforeWrite Point = plan.BeforeWrite
	AfterWrite  Point = plan.AfterWrite
	BeforeAck   Point = plan.BeforeAck
	Acquired    Point = plan.Acquired
	Sealed      Point = plan.Sealed
	Copied      Point = plan.Copied
)
