package replica

import (
	"context"
	"errors"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/examples/ledger/store"
	"example.com/tenure/holder"
)

// A tenancy is a tenant that this replica owns: its lease and its ledger.
type tenancy struct {
	lease  *holder.Lease
	ledger *store.Ledger
	ended  chan struct{} // closed when the replica is to give the tenant up
	once   sync.Once

	mu     sync.Mutex
	closed bool // takes no new work
	users  sync.WaitGroup
}

func newTenancy(lease *holder.Lease, ledger *store.Ledger) *tenancy {
	return &tenancy{lease: lease, ledger: ledger, ended: make(chan struct{})}
}

// do runs f between two passes of the lease's gate: nil means that what f did
// may be acknowledged.
func (t *tenancy) do(ctx context.Context, f func(ctx context.Context, l *store.Ledger) error) error {
	if !t.enter() {
		return errNotHere
	}
	defer t.users.Done()
	err := t.lease.Do(ctx, func(ctx context.Context) error { return f(ctx, t.ledger) })
	if broken(err) {
		t.end()
	}
	return err
}

// forget declares the tenant's copies dead, which ends the tenure: what would be
// written after that would be dead, too. The next tenure begins an empty ledger
// and removes the files of this one.
func (t *tenancy) forget(ctx context.Context) (tenure.Record, error) {
	if !t.enter() {
		return tenure.Record{}, errNotHere
	}
	defer t.users.Done()
	defer t.end()
	return t.lease.Forget(ctx)
}

// broken reports whether the ledger takes nothing more under this tenure.
func broken(err error) bool {
	if err == nil || definite(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return !errors.Is(err, tenure.ErrFenced) // the lease itself says when it is over
}

func (t *tenancy) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.users.Add(1)
	return true
}

// end asks for the tenant to be given up. It does not wait.
func (t *tenancy) end() { t.once.Do(func() { close(t.ended) }) }

// drain takes no new work and waits for what is under way, but not for long.
func (t *tenancy) drain(most time.Duration) {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	await(ctx, &t.users) // what takes longer finds the gate closed
}

// await waits until all work is done or ctx ends, and reports whether it is done.
func await(ctx context.Context, work *sync.WaitGroup) bool {
	done := make(chan struct{})
	go func() {
		work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// table has the tenants that this replica pursues, and the tenancies of those
// that it owns.
type table struct {
	mu        sync.Mutex
	pursuits  map[string]*pursuit
	tenancies map[string]*tenancy
}

func (t *table) tenancy(key string) *tenancy {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tenancies[key]
}
