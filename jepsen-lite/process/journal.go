package process

import (
	"sync/atomic"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// A journal is the run's history as a child has it. It implements
// workload.Journal.
type journal struct {
	*speaker
	start time.Duration // of the run, on the common clock
	ids   atomic.Uint64
}

// Now implements workload.Journal.
func (j *journal) Now() time.Duration {
	t, err := now()
	if err != nil {
		panic(err) // it worked when the run began
	}
	return t - j.start
}

// Record implements workload.Journal. Where the arena is gone nobody reads it.
func (j *journal) Record(e history.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.T == 0 {
		e.T = j.Now()
	}
	_ = j.sayLocked(word{Event: &e}) // the process ends with the arena
}

// NextID implements workload.Journal.
func (j *journal) NextID() uint64 { return j.ids.Add(1) }
