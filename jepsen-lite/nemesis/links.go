package nemesis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/plan"
)

// links takes a fault of links.
func (n *Nemesis) links(ctx context.Context, f *plan.Fault, links []string) (heal, error) {
	if n.Net == nil {
		return nil, errors.New("there are no relays")
	}
	if f.Kind == plan.Reset {
		err := eachLink(links, func(from, to string) error { return n.Net.Reset(ctx, from, to) })
		return func(context.Context) error { return nil }, err
	}
	var heals []func()
	for _, l := range links {
		from, to, _ := plan.Ends(l)
		heals = append(heals, n.strike(f, from, to))
	}
	verify := func(ctx context.Context) error {
		return eachLink(links, func(from, to string) error { return n.verify(ctx, f, from, to) })
	}
	healAll := func(ctx context.Context) error {
		for _, heal := range heals {
			heal()
		}
		return verify(ctx)
	}
	if err := verify(ctx); err != nil {
		for _, heal := range heals {
			heal()
		}
		return nil, err
	}
	return healAll, nil
}

func (n *Nemesis) strike(f *plan.Fault, from, to string) func() {
	switch f.Kind {
	case plan.Partition:
		return n.Net.Cut(from, to)
	case plan.Slow:
		return n.Net.Slow(from, to, time.Duration(f.Delay), time.Duration(f.Jitter))
	case plan.Throttle:
		return n.Net.Throttle(from, to, int64(f.Bytes))
	}
	return n.Net.HalfOpen(from, to)
}

// verify probes the way that a fault of a link strikes.
func (n *Nemesis) verify(ctx context.Context, f *plan.Fault, from, to string) error {
	if f.Kind == plan.HalfOpen {
		from, to = to, from // it is the word from the far end that is missing
	}
	return n.Net.Verify(ctx, from, to)
}

// eachLink calls f for all links at once.
func eachLink(links []string, f func(from, to string) error) error {
	var wg sync.WaitGroup
	errs := make([]error, len(links))
	for i, l := range links {
		wg.Go(func() {
			from, to, _ := plan.Ends(l)
			if err := f(from, to); err != nil {
				errs[i] = fmt.Errorf("link %s: %w", l, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
