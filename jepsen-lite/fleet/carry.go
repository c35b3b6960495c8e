package fleet

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/nemesis"
	"example.com/tenure/jepsen-lite/plan"
)

// progressEvery is how often progress is told.
const progressEvery = 5 * time.Second

// Carry carries a plan out and writes what happens to the history, whose first
// line it makes of the terms and of what the fleet can do. It ends when each
// key has taken a write and was read after all faults were healed, or when the
// time for that is over. An error says that the plan was not carried out as it
// stands, never what the fleet did wrong. It can be called once.
func (a *Arena) Carry(ctx context.Context, p *Plan, out *history.Writer, terms history.Terms, progress func(Progress)) error {
	if err := a.suits(p); err != nil {
		return err
	}
	terms.Off = a.off
	if a.epochs {
		terms.Tells = append(terms.Tells, history.TellsEpochs)
	}
	if a.lists {
		terms.Tells = append(terms.Tells, history.TellsLists)
	}
	if err := a.rec.open(out, terms); err != nil {
		return err
	}
	stop := a.tell(progress)
	err := a.phases(ctx, p)
	stop()
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("the run was cut off: %w", context.Cause(ctx))
	}
	a.rec.write(history.Event{Kind: history.End})
	return a.rec.failure()
}

// suits reports a plan that is not for this fleet.
func (a *Arena) suits(p *Plan) error {
	if err := p.Validate(); err != nil {
		return err
	}
	switch {
	case p.Replicas != len(a.replicas):
		return invalid("replicas", p.Replicas, "those of the fleet, %d", len(a.replicas))
	case !slices.Equal(p.Keys, a.cfg.Keys):
		return invalid("keys", p.Keys, "those of the fleet, %q", a.cfg.Keys)
	}
	for _, kind := range p.Kinds {
		if !slices.Contains(a.kinds, kind) {
			return &tenure.InvalidError{Field: "kinds", Value: kind, Bound: fmt.Sprintf("of those that the fleet can take, %q", a.kinds)}
		}
	}
	return nil
}

func (a *Arena) phases(ctx context.Context, p *Plan) error {
	defer a.asking.Wait()
	loading, quiet := context.WithCancel(ctx)
	var load sync.WaitGroup
	defer load.Wait()
	defer quiet()
	load.Go(func() { a.load(loading, p.Seed) })
	a.rec.write(history.Event{Kind: history.Phase, F: history.PhaseSafety})
	s := newStruck(a)
	n := nemesis.Nemesis{Plan: &plan.Plan{Faults: resolvable(p.Faults), Safety: p.Safety}, Hosts: s, Net: a.relays, Journal: s}
	if err := n.Strike(ctx); err != nil {
		return fmt.Errorf("a fault could not be carried out: %w", err)
	}
	a.rec.write(history.Event{Kind: history.Phase, F: history.PhaseLiveness})
	a.recovered(ctx, time.Duration(p.Available))
	quiet()
	load.Wait()
	a.asking.Wait()
	// All that was acknowledged is still there now that nobody writes.
	if a.lists && ctx.Err() == nil {
		a.within(ctx, time.Duration(p.Available), "read", a.readOnce)
	}
	return nil
}

// resolvable names the owner as the nemesis names whom it asks for.
func resolvable(faults []plan.Fault) []plan.Fault {
	out := slices.Clone(faults)
	for i := range out {
		out[i].Targets = slices.Clone(out[i].Targets)
		for j, target := range out[i].Targets {
			if target == Owner {
				out[i].Targets[j] = plan.Leader
			}
		}
	}
	return out
}

// recovered waits until each key has taken a write, for as long as that may
// take and a little longer: what comes too late must be seen to come.
func (a *Arena) recovered(ctx context.Context, bound time.Duration) {
	a.within(ctx, bound+bound/4, "write", func(ctx context.Context, r Replica, key string) error {
		_, err := a.put(ctx, "end", r, key)
		return err
	})
}

func (a *Arena) readOnce(ctx context.Context, r Replica, key string) error {
	_, err := a.list(ctx, "end", r, key)
	return err
}

// within does something for all keys. What does not succeed in time is for the
// checkers to judge.
func (a *Arena) within(ctx context.Context, d time.Duration, verb string, do func(context.Context, Replica, string) error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	// One that hangs must leave time for others.
	once := min(a.cfg.Timeout, d/time.Duration(2*len(a.replicas)))
	for i, err := range a.eachKey(ctx, func(ctx context.Context, r Replica, key string) error {
		ctx, cancel := context.WithTimeout(ctx, once)
		defer cancel()
		return do(ctx, r, key)
	}) {
		if err != nil {
			a.rec.write(history.Event{Kind: history.Note, Key: a.cfg.Keys[i], Msg: fmt.Sprintf("given up after %v: %s %v", d, verb, err)})
		}
	}
}

// tell tells progress until the function that it returns is called.
func (a *Arena) tell(progress func(Progress)) (stop func()) {
	if progress == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var telling sync.WaitGroup
	telling.Go(func() {
		for sleep(ctx, progressEvery) {
			progress(a.rec.progress())
		}
	})
	return func() {
		cancel()
		telling.Wait()
		progress(a.rec.progress())
	}
}
