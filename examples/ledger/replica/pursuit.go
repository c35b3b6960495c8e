package replica

import (
	"context"
	"errors"
	"time"

	"example.com/tenure/holder"
)

// A pursuit is a goroutine that wants a tenant: it stands in line, and when the
// lease is granted it opens the ledger and serves it until it is over.
type pursuit struct {
	cancel context.CancelFunc // ends the wait in line
	since  time.Time          // when the wait began
	owns   bool
}

const (
	firstPause = 100 * time.Millisecond // after a failure, doubled from then on
	longPause  = 10 * time.Second
	drainTime  = time.Second // for requests under way when a tenant is given up
)

// pursue begins a pursuit. The caller holds the table's lock.
func (r *Replica) pursue(key string) {
	ctx, cancel := context.WithCancel(r.staying)
	p := &pursuit{cancel: cancel, since: time.Now()}
	r.table.pursuits[key] = p
	r.work.Go(func() {
		defer cancel()
		r.run(ctx, key, p)
		r.table.mu.Lock()
		defer r.table.mu.Unlock()
		delete(r.table.pursuits, key)
	})
}

// run takes the tenant over again and again until nobody wants that.
func (r *Replica) run(ctx context.Context, key string, p *pursuit) {
	for pause := firstPause; ctx.Err() == nil; {
		err := r.tenure(ctx, key, p)
		if err == nil {
			pause = firstPause
			continue
		}
		if ctx.Err() != nil {
			return
		}
		r.log.Warn("no tenure", "tenant", key, "error", err)
		sleep(ctx, pause)
		pause = min(2*pause, longPause)
	}
}

// tenure is one ownership of the tenant, from the wait in line to the release.
func (r *Replica) tenure(ctx context.Context, key string, p *pursuit) error {
	lease, err := r.holder.AcquireWait(ctx, key)
	if err != nil {
		return err
	}
	ledger, err := r.ledgers.Open(r.ctx, key, lease)
	if err != nil {
		return errors.Join(err, r.release(lease))
	}
	r.counts.takeovers.Add(1)
	t := newTenancy(lease, ledger)
	r.table.serve(key, t, p)
	select {
	case <-lease.Done():
	case <-t.ended:
	}
	r.table.unserve(key, p)
	t.drain(drainTime)
	return errors.Join(r.release(lease), ledger.Close())
}

// release gives a lease up. It is a success if the lease is over already.
func (r *Replica) release(lease *holder.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), lease.TTL())
	defer cancel()
	return lease.Release(ctx)
}

// serve says that requests can come.
func (t *table) serve(key string, now *tenancy, p *pursuit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tenancies[key] = now
	p.owns = true
}

// unserve says that no more requests can come, and that the pursuit waits again.
func (t *table) unserve(key string, p *pursuit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tenancies, key)
	p.owns = false
	p.since = time.Now()
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
