package workload

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.com/tenure/bench/cluster"
	"example.com/tenure/holder"
	"example.com/tenure/node"
)

// renewTTL is that of the leases which are held.
const renewTTL = 10 * time.Second

// A crew is holders with leases, each with a client of its own, as replicas are.
type crew struct {
	clients []*node.Client
	holders []*holder.Holder
	leases  []*holder.Lease
}

// hire starts holders that hold n leases together.
func hire(ctx context.Context, c *cluster.Cluster, holders, n int) (*crew, error) {
	w := &crew{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	errs := make([]error, holders)
	turn := make(chan struct{}, 4)
	for i := range holders {
		from, to := n*i/holders, n*(i+1)/holders
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			client, h, leases, err := hireOne(ctx, c.Addrs, from, to)
			mu.Lock()
			defer mu.Unlock()
			errs[i] = err
			if err == nil {
				w.clients, w.holders, w.leases = append(w.clients, client), append(w.holders, h), append(w.leases, leases...)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		w.dismiss()
		return nil, err
	}
	return w, nil
}

func hireOne(ctx context.Context, addrs []string, from, to int) (*node.Client, *holder.Holder, []*holder.Lease, error) {
	client, err := node.Dial(node.ClientConfig{Addrs: addrs})
	if err != nil {
		return nil, nil, nil, err
	}
	h, err := holder.New(holder.Config{Store: client, Replica: fmt.Sprintf("replica-%d", from), TTL: renewTTL})
	if err != nil {
		return nil, nil, nil, err
	}
	var keys []string
	for i := from; i < to; i++ {
		keys = append(keys, leaseKey(i))
	}
	var leases []*holder.Lease
	for _, a := range h.AcquireMany(ctx, keys) {
		if a.Err != nil {
			return nil, nil, nil, a.Err
		}
		leases = append(leases, a.Lease)
	}
	return client, h, leases, nil
}

// A tally is what became of leases.
type tally struct {
	lost   int   // over for good, when it was looked last
	fenced int   // others whose gate was closed, most at any look
	why    error // for which one of them was lost
}

// useEvery is how often each gate is asked: a holder lets go of a lease that
// nobody uses after it was resumed.
const useEvery = renewTTL / 5

// use asks the gate of every lease again and again, as services do, until it is
// stopped, and at least once.
func (w *crew) use(stop <-chan struct{}) (t tally) {
	for {
		next := time.After(useEvery)
		t.lost = 0
		fenced := 0
		for _, l := range w.leases {
			if l.AssertHeld() == nil {
				continue
			}
			if err := l.Err(); err != nil {
				t.lost, t.why = t.lost+1, err
			} else {
				fenced++
			}
		}
		t.fenced = max(t.fenced, fenced)
		select {
		case <-stop:
			return t
		case <-next:
		}
	}
}

// dismissTime bounds how long a holder may take to release what it holds.
const dismissTime = 20 * time.Second

func (w *crew) dismiss() {
	ctx, cancel := context.WithTimeout(context.Background(), dismissTime)
	defer cancel()
	for _, h := range w.holders {
		_ = h.Close(ctx)
	}
	for _, c := range w.clients {
		_ = c.Close()
	}
}
