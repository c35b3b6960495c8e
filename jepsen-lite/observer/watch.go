package observer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/workload"
	"example.com/tenure/node"
)

// Quiet is how long a watch has to have told nothing before what it has not
// told of what its node had applied counts as left out.
const Quiet = time.Second

var eventNames = map[tenure.EventKind]string{
	tenure.EventGranted: history.Granted, tenure.EventReleased: history.Released,
	tenure.EventForgotten: history.Forgotten, tenure.EventMissed: history.Missed,
}

// Watch writes down what a watch of all keys tells on a node's run-th
// incarnation, until the node ends, or ctx has ended and nothing more is told.
// An error says that the node had ended before.
func Watch(ctx context.Context, j workload.Journal, name string, run int, n *node.Node) error {
	if err := n.Err(); err != nil {
		return err
	}
	w, err := n.Watch(node.WatchOptions{})
	if err != nil {
		return err
	}
	defer w.Close()
	told := history.Event{Kind: history.Watch, Client: fmt.Sprintf("%s.%d", name, run), Node: name}
	bound := func(f string, index uint64) {
		e := told
		e.F, e.Index = f, index
		j.Record(e)
	}
	next := func(ctx context.Context) error {
		is, err := w.Next(ctx)
		if err == nil {
			e := told
			e.F, e.Index = eventNames[is.Kind], is.Index
			e.Key, e.Owner, e.Epoch = is.Record.Key, is.Record.Owner, is.Record.Epoch
			j.Record(e)
		}
		return err
	}
	bound(history.Began, n.Status().AppliedIndex)
	for next(ctx) == nil {
	}
	for {
		applied := n.Status().AppliedIndex
		quiet, cancel := context.WithTimeout(context.WithoutCancel(ctx), Quiet)
		err := next(quiet)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			bound(history.Stood, applied)
			return nil
		case err != nil:
			return nil // the node has ended, and with it what is to be told
		}
	}
}
