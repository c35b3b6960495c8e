package workload

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/bench/contender"
)

// fillBatch is how many keys one request of a fill acquires.
const fillBatch = 5000

// leaseKey returns a key of 24 bytes.
func leaseKey(i int) string { return fmt.Sprintf("tenant-%017d", i) }

// A held is what a fill acquired: keys from one on, in order, of one owner.
type held struct {
	owner  string
	from   int
	epochs []uint64
}

// fill acquires n keys in batches, some of them at once, each for an owner of
// its own.
func fill(ctx context.Context, store tenure.Store, n int, ttl time.Duration) ([]held, error) {
	batches := make([]held, (n+fillBatch-1)/fillBatch)
	errs := make([]error, len(batches))
	turn := make(chan struct{}, 4)
	var wg sync.WaitGroup
	for i := range batches {
		from, to := i*fillBatch, min((i+1)*fillBatch, n)
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			batches[i], errs[i] = fillOne(ctx, store, from, to, ttl)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return batches, nil
}

func fillOne(ctx context.Context, store tenure.Store, from, to int, ttl time.Duration) (held, error) {
	h := held{owner: contender.NewOwner("filler"), from: from}
	req := tenure.AcquireRequest{Owner: h.owner}
	for i := from; i < to; i++ {
		req.Asks = append(req.Asks, tenure.Ask{Key: leaseKey(i), RequestID: fmt.Sprintf("%026d", i), TTL: ttl})
	}
	for _, r := range store.Acquire(ctx, req) {
		if r.Err != nil {
			return h, r.Err
		}
		h.epochs = append(h.epochs, r.Grant.Record.Epoch)
	}
	return h, nil
}
