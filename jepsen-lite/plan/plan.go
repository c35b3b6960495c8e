package plan

import (
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// Version is the version of the format.
const Version = 1

// A Plan is what is to happen in a run.
type Plan struct {
	Version  int    `json:"version"`
	Seed     uint64 `json:"seed"` // also of what the workloads draw
	Arena    string `json:"arena"`
	Nodes    int    `json:"nodes"`              // named n1, n2, ...
	Replicas int    `json:"replicas"`           // named r1, r2, ...
	Embedded int    `json:"embedded,omitempty"` // so many replicas, from the first, are in one process with the node of their number, and hold over it
	Keys     int    `json:"keys"`               // named k1, k2, ...

	TTL      Duration `json:"ttl"`
	Margin   Duration `json:"margin"`
	Election Duration `json:"election"`  // timeout of the nodes
	Snapshot uint64   `json:"snapshot"`  // log entries between snapshots
	Workload []string `json:"workloads"` // names, see [Workloads]

	Safety    Duration `json:"safety"`    // how long faults come and go
	Liveness  Duration `json:"liveness"`  // how long everything has to work after that
	Available Duration `json:"available"` // how soon every key has to have an owner then

	Kinds    []string       `json:"kinds"`              // of faults that exist in this run
	Faults   []Fault        `json:"faults"`             // by the instant at which they strike
	Coverage map[string]int `json:"coverage,omitempty"` // what the run must have had to mean anything
}

// A Fault is one fault, from when it is taken to when it is healed.
type Fault struct {
	Kind    string   `json:"kind"`
	At      Duration `json:"at"`  // since the start of the run
	For     Duration `json:"for"` // until it is healed
	Targets []string `json:"targets"`
	Rate    *float64 `json:"rate,omitempty"`    // of a clock, against true time
	Delay   Duration `json:"delay,omitempty"`   // of each message or write; how far a clock jumps
	Jitter  Duration `json:"jitter,omitempty"`  // on top of it, at most
	Bytes   int      `json:"bytes,omitempty"`   // that a link passes a second
	Counted bool     `json:"counted,omitempty"` // the clock of a suspended host counts the time that it misses, as Linux's CLOCK_BOOTTIME does
	Point   string   `json:"point,omitempty"`   // of the targets' work, at which it strikes
}

// Ends returns when the fault is healed.
func (f *Fault) Ends() time.Duration { return time.Duration(f.At + f.For) }

// Length returns how long the run takes in its own time.
func (p *Plan) Length() time.Duration { return time.Duration(p.Safety + p.Liveness) }

// Terms returns how a run of the plan is to be judged.
func (p *Plan) Terms() *history.Terms {
	return &history.Terms{
		Seed: p.Seed, Arena: p.Arena, TTL: time.Duration(p.TTL), Margin: time.Duration(p.Margin),
		Timed: p.Timed(), FastestNode: p.fastestNode(), Available: time.Duration(p.Available), Coverage: p.Coverage,
	}
}
