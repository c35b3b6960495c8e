package nemesis

import (
	"context"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// Hosts are the processes that are struck. For one host at most one of the
// methods is called at a time, State and Leader excepted.
type Hosts interface {
	// Start runs a host's next process, and returns when it is as far as it
	// gets without the others. The one before was killed.
	Start(ctx context.Context, host string) error
	// Kill ends the host's process as kill -9 does, be it stopped or not, and
	// returns when it is gone.
	Kill(ctx context.Context, host string) error
	// Pause stops the process between two of its instructions; Resume lets it
	// go on.
	Pause(ctx context.Context, host string) error
	Resume(ctx context.Context, host string) error
	// State looks what the process does, by other means than those that
	// brought it there.
	State(host string) (State, error)
	// Leader returns the node that leads as far as is known, "" if none does.
	Leader() string
}

// A Transferer is Hosts that can hand leadership over. Without it a transfer
// does nothing.
type Transferer interface {
	// Transfer asks that the node lead. An error says why it does not: under
	// other faults it need not.
	Transfer(ctx context.Context, node string) error
}

// A Stopper is Hosts whose processes can stop themselves at a point of their
// work. Without it faults with a point are an error.
type Stopper interface {
	// StopAt returns when the process has come to the point, where it stands
	// still as after Pause, or with an error when ctx has ended, after which
	// it does not stop there any more.
	StopAt(ctx context.Context, host, point string) error
}

// A State is what a process does.
type State int

// The states of a process.
const (
	Gone State = iota
	Running
	Stopped // between two of its instructions
)

// String names the state.
func (s State) String() string { return [...]string{"gone", "running", "stopped"}[s] }

// A Journal is where faults are written down. Its methods can be called
// concurrently.
type Journal interface {
	// Record writes an event, with the present instant.
	Record(e history.Event)
	// NextID returns an id that nothing in the run has had.
	NextID() uint64
}

// settling is how long a process may take to be in the state that a signal
// leads to.
const settling = 10 * time.Second
