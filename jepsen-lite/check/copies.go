package check

import (
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// copies is what happened to the durable copies of one key.
type copies struct {
	key     string
	writes  map[uint64]*history.Op // by value
	looks   []*history.Op          // answered reads and recoveries, by invocation
	base    map[uint64]*history.Op // by epoch: the recovery that its copy started from
	forgets []*history.Op          // by invocation; those that surely had no effect are left out
}

// copiesByKey sorts a history's operations on the durable layer.
func copiesByKey(h *history.History) map[string]*copies {
	all := make(map[string]*copies)
	for key, ops := range h.ByKey() {
		c := &copies{key: key, writes: make(map[uint64]*history.Op), base: make(map[uint64]*history.Op)}
		for _, op := range ops {
			c.add(op)
		}
		if len(c.writes) > 0 || len(c.looks) > 0 {
			all[key] = c
		}
	}
	return all
}

func (c *copies) add(op *history.Op) {
	switch op.Invoke.F {
	case history.Write:
		c.writes[op.Invoke.Value] = op
	case history.Read, history.Recover:
		if op.Outcome != history.OK {
			return // it was not acted on
		}
		c.looks = append(c.looks, op)
		if op.Invoke.F == history.Recover && c.base[op.Invoke.Epoch] == nil {
			c.base[op.Invoke.Epoch] = op
		}
	case history.Forget:
		if op.Outcome != history.Fail {
			c.forgets = append(c.forgets, op)
		}
	case history.Release:
		if op.Invoke.Forget && op.Invoke.Epoch != 0 && op.Outcome != history.Fail {
			c.forgets = append(c.forgets, op)
		}
	}
}

// forgottenBy returns the highest epoch whose forget was answered before the
// instant, and its operation.
func (c *copies) forgottenBy(t time.Duration) (uint64, *history.Op) {
	var epoch uint64
	var by *history.Op
	for _, op := range c.forgets {
		if op.Outcome == history.OK && op.Return < t && op.Invoke.Epoch > epoch {
			epoch, by = op.Invoke.Epoch, op
		}
	}
	return epoch, by
}

// mayForget returns the highest epoch whose forget was sent before the
// instant: what may be dead by then.
func (c *copies) mayForget(t time.Duration) uint64 {
	var epoch uint64
	for _, op := range c.forgets {
		if op.Call <= t {
			epoch = max(epoch, op.Invoke.Epoch)
		}
	}
	return epoch
}
