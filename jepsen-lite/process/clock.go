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

// A wind tells a process at which rate its clock is to run.
type wind struct {
	ID   uint64  `json:"id"`
	Rate float64 `json:"rate"`
}

// wound is the answer: what the process's clock and the common one read when
// the rate was set, and readings later.
type wound struct {
	ID            uint64        `json:"id"`
	Clock, Common time.Duration // how far each of them went
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

// wind sets the rate of the process's clock, and tells how it runs then.
func (p *person) wind(w *wind) {
	clock, own := p.clock.(*virtual.Clock)
	if !own {
		p.say(word{Failed: "the clock is the host's, and can't be set"})
		return
	}
	clock.SetRate(w.Rate)
	before, common := clock.Now(), p.journal.Now()
	time.Sleep(readings)
	p.say(word{Wound: &wound{ID: w.ID, Clock: clock.Now() - before, Common: p.journal.Now() - common}})
}

// Wind implements nemesis.Winder.
func (a *arena) Wind(ctx context.Context, name string, rate float64) error {
	a.mu.Lock()
	a.rates[name] = rate
	m := a.members[name]
	a.mu.Unlock()
	runs := 0.0
	for range probes {
		answer, err := m.wind(ctx, rate)
		if err != nil || answer == nil {
			return err
		}
		runs = float64(answer.Clock) / float64(answer.Common)
		if math.Abs(runs-rate) <= rateError {
			return nil
		}
	}
	return fmt.Errorf("its clock runs at %v times true time, and was to run at %v", runs, rate)
}

// wind sets the rate once and returns what came of it, nil if the process ended
// before.
func (m *member) wind(ctx context.Context, rate float64) (*wound, error) {
	w := &wind{ID: m.arena.NextID(), Rate: rate}
	answered := make(chan *wound, 1)
	m.note(func() { m.winding[w.ID] = answered })
	m.order(order{Wind: w})
	select {
	case answer := <-answered:
		return answer, nil
	case <-m.heard:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
