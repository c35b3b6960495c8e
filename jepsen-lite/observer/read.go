package observer

import (
	"context"
	"errors"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/node"
)

const (
	readWithin = time.Second            // is how long a read may take
	readEvery  = 200 * time.Millisecond // at most
)

// Read reads keys linearizably, one now and then, until ctx ends. name is the
// client's in the history. A client that knows one node only may ask the one
// that believes to lead and does not any more.
func (o *Observer) Read(ctx context.Context, name string, c *node.Client) {
	for o.pause(ctx, readEvery) {
		o.readOnce(ctx, name, c)
	}
}

func (o *Observer) readOnce(ctx context.Context, name string, c *node.Client) {
	id, key := o.Journal.NextID(), o.Plan.AnyKey(o.Rand.IntN)
	o.Journal.Record(history.Event{Kind: history.Invoke, F: history.Get, Client: name, ID: id, Key: key})
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	v, err := c.Get(ctx, key)
	e := history.Event{Kind: history.OK, ID: id, Client: name}
	switch r := v.Record; {
	case errors.Is(err, tenure.ErrUnavailable):
		e.Kind, e.Err = history.Info, history.Unavailable
	case err != nil:
		e.Kind, e.Err, e.Msg = history.Fail, history.Invalid, err.Error()
	default:
		e.Owner, e.Epoch, e.Held, e.Forgotten, e.Expired = r.Owner, r.Epoch, r.Held, r.ForgottenAtEpoch, v.Expired
	}
	o.Journal.Record(e)
}

// LookUp looks keys up on the nodes that pick returns, nil for none just now,
// one in every time that is below most, until ctx ends.
func (o *Observer) LookUp(ctx context.Context, most time.Duration, pick func() (name string, n *node.Node)) {
	for o.pause(ctx, most) {
		name, n := pick()
		if n == nil {
			continue
		}
		id, key := o.Journal.NextID(), o.Plan.AnyKey(o.Rand.IntN)
		o.Journal.Record(history.Event{Kind: history.Invoke, F: history.Owner, Node: name, ID: id, Key: key})
		at := n.Owner(key)
		o.Journal.Record(history.Event{Kind: history.OK, ID: id, Owner: at.Owner, Epoch: at.Epoch, Held: at.Held, Expired: at.Expired})
	}
}
