package replica

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/examples/ledger/store"
	"example.com/tenure/holder"
	"example.com/tenure/holder/holdertest"
)

// later is a tenure that comes after all others.
type later struct{}

func (later) Epoch() uint64          { return 1000 }
func (later) Live(epoch uint64) bool { return true }

// newTestTenancy returns a tenancy of tenant-001, and the store of its ledger.
func newTestTenancy(t *testing.T) (*tenancy, *store.Store) {
	t.Helper()
	h, err := holder.New(holder.Config{Store: holdertest.NewStore(nil), Replica: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	lease, err := h.Acquire(t.Context(), "tenant-001")
	if err != nil {
		t.Fatal(err)
	}
	ledgers := store.New(t.TempDir())
	ledger, err := ledgers.Open(t.Context(), "tenant-001", lease)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ledger.Close() })
	return newTenancy(lease, ledger), ledgers
}

func (t *tenancy) append(ctx context.Context, id string) error {
	return t.do(ctx, func(ctx context.Context, l *store.Ledger) error {
		_, err := l.Append(ctx, id, "")
		return err
	})
}

func (t *tenancy) hasEnded() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

// The goal: a tenure whose ledger is sealed, or takes nothing more, is given up;
// one whose client was wrong or went away is not.
func TestWhatEndsATenure(t *testing.T) {
	tenancy, ledgers := newTestTenancy(t)
	if err := tenancy.append(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tenancy.append(gone, "b"); !errors.Is(err, context.Canceled) || tenancy.hasEnded() {
		t.Errorf("a client that went away: %v, ended %v", err, tenancy.hasEnded())
	}
	if err := tenancy.append(t.Context(), ""); !errors.Is(err, tenure.ErrInvalid) || tenancy.hasEnded() {
		t.Errorf("a bad entry: %v, ended %v", err, tenancy.hasEnded())
	}
	successor, err := ledgers.Open(t.Context(), "tenant-001", later{})
	if err != nil {
		t.Fatal(err)
	}
	defer successor.Close()
	var sealed *store.SealedError
	if err := tenancy.append(t.Context(), "c"); !errors.As(err, &sealed) || !tenancy.hasEnded() {
		t.Errorf("a sealed ledger: %v, ended %v", err, tenancy.hasEnded())
	}
}

// The goal: a tenancy that is drained takes nothing new, waits for what is under
// way, and for no longer than it was told.
func TestDrain(t *testing.T) {
	tenancy, _ := newTestTenancy(t)
	working, work, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- tenancy.do(t.Context(), func(context.Context, *store.Ledger) error {
			close(working)
			<-work
			return nil
		})
	}()
	<-working
	tenancy.drain(time.Millisecond)
	if err := tenancy.append(t.Context(), "a"); !errors.Is(err, errNotHere) {
		t.Errorf("new work while draining: %v", err)
	}
	close(work)
	if err := <-done; err != nil {
		t.Errorf("the work under way: %v", err)
	}
	tenancy.drain(time.Hour)
}

// The goal: a forget ends the tenure whatever its outcome, and nothing is
// acknowledged after it.
func TestForgetEndsATenure(t *testing.T) {
	tenancy, _ := newTestTenancy(t)
	record, err := tenancy.forget(t.Context())
	if err != nil || record.ForgottenAtEpoch != tenancy.lease.Epoch() || !tenancy.hasEnded() {
		t.Errorf("forget: %+v, %v, ended %v", record, err, tenancy.hasEnded())
	}
	if err := tenancy.append(t.Context(), "a"); !errors.Is(err, tenure.ErrFenced) {
		t.Errorf("append after the forget: %v, want it fenced", err)
	}
}
