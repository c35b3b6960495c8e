package history

import (
	"fmt"
	"slices"
	"time"
)

// Terms say how a run is to be judged. They stand in its first line, so that a
// history can be checked without anything else.
type Terms struct {
	Seed   uint64 `json:"seed"`
	Arena  string `json:"arena"`
	Commit string `json:"commit,omitempty"` // of the product under test
	Replay string `json:"replay,omitempty"` // the command that runs the plan again

	TTL    time.Duration `json:"ttl,omitempty"`    // that most of the run's tenures have
	Margin time.Duration `json:"margin,omitempty"` // that most of its holders keep

	// Timed says that claim A is tested: all clocks keep their rates within
	// the margin. Where it is false the run has faults beyond the margin, and
	// held intervals may overlap without any fault of the product.
	Timed bool `json:"timed"`
	// ClockError bounds how far the instants of two hosts in this history may
	// be apart. Zero where all were read on one clock.
	ClockError time.Duration `json:"clock_error,omitempty"`
	// FastestNode bounds the rate of every node's clock against true time.
	// Zero is 1.
	FastestNode float64 `json:"fastest_node,omitempty"`

	// Available is how soon after the start of the liveness phase every key
	// must have an owner again.
	Available time.Duration `json:"available,omitempty"`
	// Coverage is what the plan calls for: at least so many of each. The names
	// are those of package check's coverage table.
	Coverage map[string]int `json:"coverage,omitempty"`
	// Tells is what the arena writes down. A checker that needs more is
	// skipped; one that needs this and finds nothing says unknown.
	Tells []string `json:"tells,omitempty"`
	// Off is what was asked for and can't be done to what is under test: kinds
	// of faults, each with the reason.
	Off map[string]string `json:"off,omitempty"`
}

// What an arena can tell.
const (
	TellsOps   = "ops"   // invocations and completions of the store
	TellsGates = "gates" // hold, gate, ack and stop events
	TellsData  = "data"  // writes, reads and recoveries of the durable layer
	TellsLog   = "log"   // the committed log
	TellsWatch = "watch" // what watches reported
	TellsSums  = "sums"  // checksums of the nodes' states
	TellsLeaks = "leaks" // what was left at the end

	TellsEpochs = "epochs" // under which epoch a fleet acknowledged a write
	TellsLists  = "lists"  // what a fleet has of a key
)

var tellable = []string{
	TellsOps, TellsGates, TellsData, TellsLog, TellsWatch, TellsSums, TellsLeaks, TellsEpochs, TellsLists,
}

// Tell reports whether the arena writes down what.
func (t *Terms) Tell(what string) bool { return slices.Contains(t.Tells, what) }

// Fastest returns the bound of the rates of nodes' clocks, at least 1.
func (t *Terms) Fastest() float64 { return max(1, t.FastestNode) }

func (t *Terms) validate() error {
	switch {
	case t.ClockError < 0:
		return fmt.Errorf("clock_error %d must not be negative", t.ClockError)
	case t.Available < 0:
		return fmt.Errorf("available %d must not be negative", t.Available)
	case t.FastestNode < 0 || t.FastestNode > 100:
		return fmt.Errorf("fastest_node %v must be from 0 to 100", t.FastestNode)
	}
	for _, what := range t.Tells {
		if !slices.Contains(tellable, what) {
			return fmt.Errorf("tells %q must be one of %q", what, tellable)
		}
	}
	return nil
}
