package workload

import (
	"context"
	"errors"
	"sync"

	"example.com/tenure"
)

// mostFarewells bounds the writes under which a key is forgotten.
const mostFarewells = 100

// giveUp ends a tenure, and sometimes forgets the key's copies first, or with
// it.
func (c *contender) giveUp(t *tenant) {
	ctx, cancel := context.WithTimeout(c.ctx, 2*c.ttl())
	defer cancel()
	release := t.lease.Release
	way := c.rng.IntN(8)
	if !c.forgot {
		way = 1
	}
	switch way {
	case 0:
		release = t.lease.ReleaseForgotten
	case 1:
		c.forget(ctx, t)
	case 2:
		c.forgetWhileWriting(ctx, t)
	}
	if err := release(ctx); err != nil {
		c.note(c.key, err)
	}
	select {
	case <-t.lease.Done():
	case <-c.ctx.Done():
	}
}

// forget forgets the key's copies, however often it has to be asked.
func (c *contender) forget(ctx context.Context, t *tenant) {
	for {
		_, err := t.lease.Forget(ctx)
		c.forgot = c.forgot || err == nil
		if err == nil || ctx.Err() != nil || errors.Is(err, tenure.ErrFenced) || errors.Is(err, tenure.ErrLost) {
			return
		}
	}
}

// forgetWhileWriting forgets the key's copies under another goroutine's writes:
// from the moment that the forget is sent none of them may be acknowledged.
func (c *contender) forgetWhileWriting(ctx context.Context, t *tenant) {
	var writing sync.WaitGroup
	writing.Go(func() {
		for n := 0; n < mostFarewells && t.write() == nil; n++ {
		}
	})
	c.sleep(between(c.rng, 0, c.pause))
	c.forget(ctx, t)
	writing.Wait()
}
