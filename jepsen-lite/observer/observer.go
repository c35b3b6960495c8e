// Package observer looks at a cluster from beside while replicas work with it,
// and writes down what it is told: linearizable reads, local lookups, watches.
// Both arenas have it.
package observer

import (
	"context"
	"math/rand/v2"
	"time"

	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/workload"
)

// An Observer looks at the keys of a plan. One is for one goroutine, for its
// source of randomness is.
type Observer struct {
	Plan    *plan.Plan
	Journal workload.Journal
	Rand    *rand.Rand
}

// pause waits for a time below most, and reports whether ctx goes on.
func (o *Observer) pause(ctx context.Context, most time.Duration) bool {
	t := time.NewTimer(time.Duration(o.Rand.Int64N(int64(most))))
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
