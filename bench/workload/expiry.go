package workload

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/bench/contender"
	"example.com/tenure/node"
)

// expiryTTL is long enough for all to be waited for before the first expires.
const expiryTTL = 20 * time.Second

// expiryBatch is how many keys one waiter waits for.
const expiryBatch = 1000

// expiry measures how fast a hundred thousand keys change hands whose holders
// have died together, each of them waited for. The time counts from when the
// first of them could expire until the last one was granted.
func (b *Bench) expiry(ctx context.Context) error {
	for _, system := range b.only(contender.Tenure, contender.TenureWAL) {
		c, err := b.start(ctx, kindOf(system))
		if err != nil {
			return err
		}
		for round := 0; round < b.Rounds && err == nil; round++ {
			err = b.expireAll(ctx, c.Addrs, system)
		}
		c.Close()
		if err != nil {
			return fmt.Errorf("expiry of %s: %w", system, err)
		}
	}
	return nil
}

func (b *Bench) expireAll(ctx context.Context, addrs []string, system string) error {
	client, err := node.Dial(node.ClientConfig{Addrs: addrs})
	if err != nil {
		return err
	}
	defer client.Close()
	began := time.Now()
	if _, err := fill(ctx, client, b.Leases, expiryTTL); err != nil {
		return err
	}
	due := began.Add(expiryTTL) // of the first one; the last one is due a little later
	filled := time.Since(began)
	waiters := make([]waiter, (b.Leases+expiryBatch-1)/expiryBatch)
	var wg sync.WaitGroup
	for i := range waiters {
		wg.Go(func() { waiters[i].wait(ctx, client, i*expiryBatch, min((i+1)*expiryBatch, b.Leases)) })
	}
	wg.Wait()
	took := time.Since(due)
	for i := range waiters {
		if waiters[i].err != nil {
			return waiters[i].err
		}
	}
	b.Results.Add("expiry/100k", system, "1/s", float64(b.Leases)/took.Seconds())
	b.logf("expiry: %s: acquired in %v, expired and changed hands in %v", system, filled.Round(time.Millisecond), took.Round(time.Millisecond))
	for i := range waiters {
		if err := waiters[i].release(ctx, client); err != nil {
			return err
		}
	}
	return nil
}

// A waiter waits for a range of keys.
type waiter struct {
	owner   string
	endings []tenure.Ending
	err     error
}

func (w *waiter) wait(ctx context.Context, client *node.Client, from, to int) {
	w.owner = contender.NewOwner("waiter")
	req := tenure.AcquireRequest{Owner: w.owner}
	for i := from; i < to; i++ {
		req.Asks = append(req.Asks, tenure.Ask{Key: leaseKey(i), RequestID: "wait", TTL: time.Minute, Wait: 10 * time.Minute})
	}
	for i, r := range client.Acquire(ctx, req) {
		if r.Err != nil {
			w.err = r.Err
			return
		}
		w.endings = append(w.endings, tenure.Ending{Key: req.Asks[i].Key, Epoch: r.Grant.Record.Epoch})
	}
}

func (w *waiter) release(ctx context.Context, client *node.Client) error {
	for endings := range slices.Chunk(w.endings, expiryBatch) {
		for _, r := range client.Release(ctx, tenure.ReleaseRequest{Owner: w.owner, Endings: endings}) {
			if r.Err != nil {
				return r.Err
			}
		}
	}
	return nil
}
