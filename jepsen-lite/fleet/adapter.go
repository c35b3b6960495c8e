package fleet

import (
	"context"
	"errors"
)

// ErrRefused marks, as an error that wraps it, a write that was surely not done
// and never will be: it was refused before anybody tried. Every other error of
// a write leaves open whether it was done.
var ErrRefused = errors.New("refused")

// An Adapter lets the harness drive somebody's fleet. What the fleet can't do
// is answered with an error that wraps [errors.ErrUnsupported], always: it
// switches off the faults and the checkers that need it.
//
// Its methods are called concurrently for different replicas, and Write and
// Read also for the same one, under faults as well. They must return soon after
// ctx ends.
type Adapter interface {
	// Start starts a replica, the first time or again after a Kill, on what
	// it had on its disk. It need not wait until the replica serves.
	Start(ctx context.Context, r Replica) error
	// Kill ends a replica without any farewell, as kill -9 does, and returns
	// when nothing of it runs any more. It may be paused. At the end of a run
	// all are killed. An error says that it could not be ended, or that it had
	// ended by itself.
	Kill(ctx context.Context, r Replica) error
	// Pause lets a replica stand still between two of its instructions, as
	// SIGSTOP does, until Resume. Its clock goes on.
	Pause(ctx context.Context, r Replica) error
	Resume(ctx context.Context, r Replica) error

	// Write asks a replica, as a client of the fleet would, to add a value to
	// those of a key. Each value is written once. nil acknowledges it: it is
	// there for good, whatever happens. An error that wraps ErrRefused says
	// that it is not there and never will be, any other that nobody knows.
	Write(ctx context.Context, r Replica, key string, value uint64) (Ack, error)
	// Read asks a replica, as a client would, for all values of a key. It is
	// to have all that were acknowledged before it was called.
	Read(ctx context.Context, r Replica, key string) (Values, error)
}

// An Ack says who acknowledged a write.
type Ack struct {
	// Epoch is that of the owner's tenure of the key, its fencing token. Zero
	// if the fleet does not tell: then nobody looks for a second owner.
	Epoch uint64
	// Owner is the replica that owned the key in that tenure. Empty if the
	// fleet does not tell.
	Owner string
}

// Values are what a read found.
type Values struct {
	Ack
	// Values may come in any order; one that is there twice comes twice.
	Values []uint64
}

// A Replica is one of the fleet as it has to be started.
type Replica struct {
	Name   string // r1, r2, ...
	Dir    string // its own folder, there from the start, and the same after a restart
	Shared string // a folder that all replicas of the fleet share
	Log    string // a file for what it has to say, over all of its incarnations

	// Listen is where it has to listen: as many HOST:PORT as the run asks for.
	Listen []string
	// Peers are all replicas, this one included.
	Peers []Peer
}

// A Peer is a replica of the fleet as another one sees it.
type Peer struct {
	Name string
	// Listen is where the peer listens: its public addresses, the same for
	// all who look at it.
	Listen []string
	// Dial is where this replica, and no other, has to dial to reach the peer,
	// for each address of Listen: a relay, at which faults strike. Of the
	// replica itself it is the same as Listen.
	Dial []string
}
