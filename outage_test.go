package tenure_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
	"example.com/tenure/holder/holdertest"
)

// A test of a service, in virtual time: what it does when the store of leases is
// away for longer than a TTL.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := tenure.MonotonicClock()
		store := holdertest.NewStore(clock)
		h, err := holder.New(holder.Config{Store: store, Replica: "replica-1", Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close(context.Background())
		lease, err := h.Acquire(t.Context(), "tenant-42")
		if err != nil {
			t.Fatal(err)
		}

		store.SetReachable(false)
		time.Sleep(holder.DefaultTTL) // takes no time at all
		if err := lease.AssertHeld(); !errors.Is(err, tenure.ErrFenced) {
			t.Errorf("during the outage: %v, want fenced", err)
		}

		store.SetReachable(true)
		time.Sleep(holder.DefaultTTL / 2)
		if err := lease.AssertHeld(); err != nil {
			t.Errorf("after it: %v, want a resumed lease, since nobody else was granted the key", err)
		}
	})
}
