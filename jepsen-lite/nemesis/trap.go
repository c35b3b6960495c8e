package nemesis

import (
	"context"
	"errors"
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

// lieInWait takes a fault at each of its targets that comes to the fault's
// point before an instant, and heals it by then. Some wait in vain.
func (n *Nemesis) lieInWait(ctx context.Context, f *plan.Fault, over time.Time) error {
	s, can := n.Hosts.(Stopper)
	if !can {
		return errors.New("these processes can't be stopped at a point of their work")
	}
	return all(f.Targets, func(i int) error {
		waiting, cancel := context.WithDeadline(ctx, over)
		defer cancel()
		if s.StopAt(waiting, f.Targets[i], f.Point) != nil {
			return nil
		}
		return n.excuse(ctx, n.spring(ctx, f, n.host(f.Targets[i]), over))
	})
}

// spring takes the fault at a host whose process stopped itself, and heals it.
func (n *Nemesis) spring(ctx context.Context, f *plan.Fault, h *host, over time.Time) error {
	h.sprung.Add(1)
	defer h.sprung.Add(-1)
	id := n.Journal.NextID()
	n.Journal.Record(history.Event{Kind: history.Fault, F: f.Kind, ID: id, Targets: []string{h.name}, Msg: "at " + f.Point})
	strike, heal := (*host).pause, (*host).resume
	if f.Kind == plan.KillSuccessor {
		strike, heal = (*host).kill, (*host).restart
	}
	run, err := strike(h, ctx)
	if err != nil {
		return err
	}
	sleep(ctx, min(time.Duration(f.For), time.Until(over)))
	if err := heal(h, ctx, run); err != nil {
		return err
	}
	n.Journal.Record(history.Event{Kind: history.Heal, ID: id})
	return nil
}
