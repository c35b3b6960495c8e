package process

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/node"
)

// reader is the host that the arena reads from. No fault strikes it.
const reader = "reader"

// observe starts what looks on from outside, until the end of the run.
func (a *arena) observe() (*sync.WaitGroup, error) {
	dials, err := a.dials(reader)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(a.ctx)
	a.stopReading = stop
	wg := &sync.WaitGroup{}
	for i := range a.Plan.Nodes {
		c, err := node.Dial(node.ClientConfig{Addrs: []string{nodeAddr(plan.NodeName(i))}, Network: newNetwork(dials, nil)})
		if err != nil {
			return nil, err
		}
		wg.Go(func() { a.read(ctx, reader+"-"+plan.NodeName(i), c) })
	}
	wg.Go(func() {
		for every(ctx, func() time.Duration { return 10 * time.Second }) {
			a.progress()
		}
	})
	return wg, nil
}

// every waits for as long as wait says, and reports whether ctx goes on.
func every(ctx context.Context, wait func() time.Duration) bool {
	t := time.NewTimer(wait())
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// read reads keys, linearizably, through a client that knows one node only: that
// may be the one that believes to lead and does not any more.
func (a *arena) read(ctx context.Context, name string, c *node.Client) {
	for every(ctx, func() time.Duration { return rand.N(200 * time.Millisecond) }) {
		a.readOnce(ctx, name, c)
	}
	_ = c.Close() // it has nothing to say
}

func (a *arena) readOnce(ctx context.Context, name string, c *node.Client) {
	id, key := a.NextID(), a.Plan.AnyKey(rand.IntN)
	a.Record(history.Event{Kind: history.Invoke, F: history.Get, Client: name, ID: id, Key: key})
	ctx, cancel := context.WithTimeout(ctx, time.Second)
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
	a.Record(e)
}
