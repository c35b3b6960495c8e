package nemesis

import (
	"context"
	"errors"

	"example.com/tenure/jepsen-lite/plan"
)

// A RateSetter is Hosts that can let clocks run at another rate. Without it
// faults of clocks are an error.
type RateSetter interface {
	// SetRate lets the clock of a host's process, and of those that it starts
	// from now on, run at a rate against true time. It returns when a probe
	// has confirmed that, or the process has ended; a process that stands
	// still does what it is told when it goes on.
	SetRate(ctx context.Context, host string, rate float64) error
}

// setRates sets clocks, and sets them right again.
func (n *Nemesis) setRates(ctx context.Context, f *plan.Fault, hosts []string) (heal, error) {
	s, can := n.Hosts.(RateSetter)
	if !can {
		return nil, errors.New("the clocks of these processes can't be set")
	}
	set := func(ctx context.Context, rate float64) error {
		return all(hosts, func(i int) error { return s.SetRate(ctx, hosts[i], rate) })
	}
	return func(ctx context.Context) error { return set(ctx, 1) }, set(ctx, *f.Rate)
}
