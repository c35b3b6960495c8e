package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

const (
	clientsEach = 2    // for each replica: one that hangs holds up only its own clients
	listsOneIn  = 12   // requests is a list
	mostTwice   = 1000 // values of a list are told that are there more than once
)

// A counter gives each write of a key a value of its own, from 1 on.
type counter struct {
	mu   sync.Mutex
	last map[string]uint64
}

func newCounter() *counter { return &counter{last: make(map[string]uint64)} }

func (c *counter) next(key string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last[key]++
	return c.last[key]
}

// load lets clients write and read until ctx ends. What is under way then has
// an unknown outcome.
func (a *Arena) load(ctx context.Context, seed uint64) {
	var clients sync.WaitGroup
	n := clientsEach * len(a.replicas)
	pause := time.Duration(n) * time.Second / time.Duration(a.cfg.Rate)
	for i := range n {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		clients.Go(func() { a.client(ctx, fmt.Sprintf("c%d", i+1), a.replicas[i%len(a.replicas)], rng, pause) })
	}
	clients.Wait()
}

// client asks one replica again and again.
func (a *Arena) client(ctx context.Context, name string, r Replica, rng *rand.Rand, pause time.Duration) {
	for sleep(ctx, pause/2+time.Duration(rng.Int64N(int64(pause)))) {
		key := a.cfg.Keys[rng.IntN(len(a.cfg.Keys))]
		if a.lists && rng.IntN(listsOneIn) == 0 {
			_, _ = a.list(ctx, name, r, key) // the history has it
		} else {
			_, _ = a.put(ctx, name, r, key)
		}
	}
}

// put writes a new value through a replica.
func (a *Arena) put(ctx context.Context, client string, r Replica, key string) (Ack, error) {
	e := history.Event{F: history.Put, ID: a.rec.id(), Client: client, Node: r.Name, Key: key, Value: a.values.next(key)}
	a.invoke(e)
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
	defer cancel()
	ack, err := a.cfg.Adapter.Write(ctx, r, key, e.Value)
	a.complete(e, ack, err)
	return ack, err
}

// list reads all values of a key through a replica.
func (a *Arena) list(ctx context.Context, client string, r Replica, key string) (Values, error) {
	e := history.Event{F: history.List, ID: a.rec.id(), Client: client, Node: r.Name, Key: key}
	a.invoke(e)
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
	defer cancel()
	found, err := a.cfg.Adapter.Read(ctx, r, key)
	if err == nil {
		e.Values, e.Twice = history.SetOf(found.Values...), twice(found.Values)
	}
	a.complete(e, found.Ack, err)
	return found, err
}

func (a *Arena) invoke(e history.Event) {
	e.Kind = history.Invoke
	a.rec.write(e)
}

func (a *Arena) complete(e history.Event, ack Ack, err error) {
	e.Value = 0
	switch {
	case err == nil:
		e.Kind, e.Epoch, e.Owner = history.OK, ack.Epoch, ack.Owner
	case errors.Is(err, ErrRefused), errors.Is(err, errors.ErrUnsupported):
		e.Kind, e.Err, e.Msg = history.Fail, "refused", err.Error()
	default:
		e.Kind, e.Err, e.Msg = history.Info, history.Unavailable, err.Error()
	}
	a.rec.write(e)
}

// twice returns the values that are there more than once.
func twice(values []uint64) history.Set {
	seen := make(map[uint64]bool, len(values))
	var again []uint64
	for _, v := range values {
		if seen[v] && len(again) < mostTwice {
			again = append(again, v)
		}
		seen[v] = true
	}
	return history.SetOf(again...)
}

// sleep waits and reports whether ctx has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
