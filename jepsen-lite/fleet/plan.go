package fleet

import (
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

// Name is the name of this arena in plans and histories.
const Name = "fleet"

// Version is the version of the format of plans.
const Version = 1

// A Plan is what is to happen to a fleet. It is drawn from a seed, written down
// before anything happens, and can be carried out again.
type Plan struct {
	Version  int      `json:"version"`
	Arena    string   `json:"arena"`
	Seed     uint64   `json:"seed"`     // also of what the clients draw
	Replicas int      `json:"replicas"` // named r1, r2, ...
	Keys     []string `json:"keys"`

	TTL       plan.Duration `json:"ttl"`       // of the fleet's leases
	Safety    plan.Duration `json:"safety"`    // how long faults come and go
	Available plan.Duration `json:"available"` // how soon after that every key has to take a write again

	Kinds    []string       `json:"kinds"`              // of faults that exist in this run
	Faults   []plan.Fault   `json:"faults"`             // by the instant at which they strike
	Coverage map[string]int `json:"coverage,omitempty"` // what the run must have had to mean anything
}

// Terms returns how a run of the plan is to be judged.
func (p *Plan) Terms() history.Terms {
	return history.Terms{
		Seed: p.Seed, Arena: Name, TTL: time.Duration(p.TTL), Timed: true,
		Available: time.Duration(p.Available), Coverage: p.Coverage,
	}
}

// WriteFile writes the plan down.
func (p *Plan) WriteFile(path string) error { return plan.Write(path, p) }

// ReadFile reads a plan that was written down, and checks it.
func ReadFile(path string) (*Plan, error) { return plan.Read[Plan](path) }

// Parse reads the JSON of a plan, and checks it.
func Parse(text []byte) (*Plan, error) { return plan.Decode[Plan](text) }
