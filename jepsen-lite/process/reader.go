package process

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/history"
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
	var addrs []string
	for addr := range dials {
		addrs = append(addrs, addr)
	}
	c, err := node.Dial(node.ClientConfig{Addrs: addrs, Network: newNetwork(dials, nil)})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(a.ctx)
	a.stopReading = stop
	wg := &sync.WaitGroup{}
	wg.Go(func() {
		for every(ctx, func() time.Duration { return rand.N(100 * time.Millisecond) }) {
			a.read(ctx, c)
		}
		_ = c.Close() // it has nothing to say
	})
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

// read reads a key, linearizably.
func (a *arena) read(ctx context.Context, c *node.Client) {
	key := a.Plan.AnyKey(rand.IntN)
	id := a.NextID()
	a.Record(history.Event{Kind: history.Invoke, F: history.Get, Client: reader, ID: id, Key: key})
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	v, err := c.Get(ctx, key)
	e := history.Event{Kind: history.OK, ID: id, Client: reader}
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
