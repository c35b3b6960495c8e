package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/relay"
)

// A Nemesis carries out a plan's faults. All fields are required, but Net where
// the plan has no faults of links.
type Nemesis struct {
	Plan    *plan.Plan
	Hosts   Hosts
	Net     *relay.Net
	Journal Journal

	mu    sync.Mutex
	hosts map[string]*host
}

// Strike carries out the faults, counted from now, heals them, and returns at
// the end of the safety phase. The first fault that can't be carried out ends
// it early with an error; so does ctx, with none.
func (n *Nemesis) Strike(ctx context.Context) error {
	n.hosts = make(map[string]*host)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failure error
	var failing sync.Once
	begun := time.Now()
	over := begun.Add(time.Duration(n.Plan.Safety))
	var faults sync.WaitGroup
	for i := range n.Plan.Faults {
		f := &n.Plan.Faults[i]
		faults.Go(func() {
			if !sleep(ctx, time.Until(begun.Add(time.Duration(f.At)))) {
				return
			}
			take := n.fault
			if f.Waits() {
				take = func(ctx context.Context, f *plan.Fault) error { return n.lieInWait(ctx, f, over) }
			}
			if err := take(ctx, f); err != nil {
				failing.Do(func() { failure = fmt.Errorf("%s at %v: %w", f.Kind, f.At, err) })
				cancel()
			}
		})
	}
	faults.Wait()
	sleep(ctx, time.Until(over))
	return failure
}

// sleep lets time pass, and reports whether ctx goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// fault takes one fault, heals it when its time is over, and probes both.
func (n *Nemesis) fault(ctx context.Context, f *plan.Fault) error {
	id, targets := n.Journal.NextID(), n.resolve(f.Targets)
	e := history.Event{Kind: history.Fault, F: f.Kind, ID: id, Targets: targets}
	if f.Rate != nil {
		e.Rate = *f.Rate
	}
	n.Journal.Record(e)
	healed := time.Now().Add(time.Duration(f.For))
	heal, err := n.take(ctx, f, targets)
	if err != nil {
		return n.excuse(ctx, err)
	}
	sleep(ctx, time.Until(healed)) // to probe it has taken its time
	if err := heal(ctx); err != nil {
		return n.excuse(ctx, fmt.Errorf("heal: %w", err))
	}
	n.Journal.Record(history.Event{Kind: history.Heal, ID: id})
	return nil
}

// excuse drops what went wrong only because everything ends.
func (n *Nemesis) excuse(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// resolve names the present leader where a target says so; targets of a leader
// that there is not are left out.
func (n *Nemesis) resolve(targets []string) []string {
	leader := n.Hosts.Leader()
	actual := func(host string) string {
		if host == plan.Leader {
			return leader
		}
		return host
	}
	var out []string
	for _, target := range targets {
		if from, to, link := plan.Ends(target); link {
			from, to = actual(from), actual(to)
			if from != "" && to != "" && from != to {
				out = append(out, plan.Link(from, to))
			}
		} else if host := actual(target); host != "" {
			out = append(out, host)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A heal takes a fault back, and returns when a probe has confirmed that.
type heal func(ctx context.Context) error

// take takes a fault and returns what heals it.
func (n *Nemesis) take(ctx context.Context, f *plan.Fault, targets []string) (heal, error) {
	switch f.Kind {
	case plan.Partition, plan.Slow, plan.Throttle, plan.HalfOpen, plan.Reset:
		return n.links(ctx, f, targets)
	case plan.Kill, plan.KillHolder:
		return n.each(ctx, targets, (*host).kill, (*host).restart)
	case plan.Pause, plan.PauseHolder:
		return n.each(ctx, targets, (*host).pause, (*host).resume)
	case plan.Clock:
		return n.setRates(ctx, f, targets)
	case plan.Transfer:
		return n.transfer(ctx, targets), nil
	}
	return nil, errors.New("real processes have no such fault")
}

// transfer asks each target's node to lead. It need not succeed: under other
// faults there may be nobody to hand over.
func (n *Nemesis) transfer(ctx context.Context, nodes []string) heal {
	if t, can := n.Hosts.(Transferer); can {
		for _, node := range nodes {
			if err := t.Transfer(ctx, node); err != nil {
				n.Journal.Record(history.Event{Kind: history.Note, Msg: "transfer to " + node + ": " + err.Error()})
			}
		}
	}
	return func(context.Context) error { return nil }
}
