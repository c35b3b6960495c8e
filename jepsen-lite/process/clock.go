package process

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/virtual"
	"example.com/tenure/jepsen-lite/workload"
)

// A rateOrder tells a process at which rate its clock is to run.
type rateOrder struct {
	ID   uint64  `json:"id"` // of the answer
	Rate float64 `json:"rate"`
}

// A ratio is the answer: how far the process's clock went while the common one
// went so far.
type ratio struct {
	ID     uint64        `json:"id"`
	Clock  time.Duration `json:"clock"`
	Common time.Duration `json:"common"`
}

const (
	// readings are so long apart where a clock is probed.
	readings = 50 * time.Millisecond
	// rateError is how far a rate may seem to be off: between the readings
	// of two clocks a process may have to wait for its turn. Such a probe is
	// done again, at most so often.
	rateError = 0.005
	probes    = 50
)

// newClock returns the clock of a process. It is the host's, unless the plan
// may want another rate of it.
func newClock(s *setup, hosts tenure.Clock) workload.Clock {
	if !slices.Contains(s.Plan.Kinds, plan.Clock) {
		return hostClock{hosts}
	}
	return virtual.NewClock(rand.N(1000*time.Hour), s.Rate) // each process has another origin
}

// A hostClock is a clock of the host, which runs at the rate of true time.
type hostClock struct{ tenure.Clock }

// After implements workload.Clock.
func (c hostClock) After(t time.Duration) (wait time.Duration, ever bool) {
	return max(0, t-c.Now()), true
}

// nodeClock and holderClock are the clocks that the product takes by default.
func nodeClock(s *setup) workload.Clock   { return newClock(s, tenure.MonotonicClock()) }
func holderClock(s *setup) workload.Clock { return newClock(s, holder.BootClock()) }

// setRate sets the rate of the process's clock, and tells how it runs then.
func (p *participant) setRate(o *rateOrder) {
	clock, own := p.clock.(*virtual.Clock)
	if !own {
		p.say(word{Failed: "the clock is the host's, and can't be set"})
		return
	}
	clock.SetRate(o.Rate)
	before, common := clock.Now(), p.journal.Now()
	time.Sleep(readings)
	p.say(word{Rate: &ratio{ID: o.ID, Clock: clock.Now() - before, Common: p.journal.Now() - common}})
}

// SetRate implements nemesis.RateSetter.
func (a *arena) SetRate(ctx context.Context, name string, rate float64) error {
	a.mu.Lock()
	a.rates[name] = rate
	m := a.members[name]
	a.mu.Unlock()
	runs := 0.0
	for range probes {
		r, err := m.setRate(ctx, rate)
		if err != nil || r == nil {
			return err
		}
		if runs = float64(r.Clock) / float64(r.Common); math.Abs(runs-rate) <= rateError {
			return nil
		}
	}
	return fmt.Errorf("its clock runs at %v times true time, and was to run at %v", runs, rate)
}

// setRate sets the rate once and returns what came of it, nil if the process
// ended before.
func (m *member) setRate(ctx context.Context, rate float64) (*ratio, error) {
	o := &rateOrder{ID: m.arena.NextID(), Rate: rate}
	answered := make(chan *ratio, 1)
	m.note(func() { m.ratios[o.ID] = answered })
	m.order(order{Rate: o})
	select {
	case r := <-answered:
		return r, nil
	case <-m.heard:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
