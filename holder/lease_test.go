package holder_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/tenure"
)

// Goal: a lease is acquired, lives on for as long as it is renewed, and is
// gone from the store once it is released.
func TestLeaseLife(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		lease := b.acquire(key)
		if lease.Key() != key || lease.Epoch() != 1 || lease.TTL() != ttl || lease.Owner() != b.Owner() {
			t.Errorf("got key %q, epoch %d, ttl %v, owner %q", lease.Key(), lease.Epoch(), lease.TTL(), lease.Owner())
		}
		if !strings.HasPrefix(lease.Owner(), "replica-1/") {
			t.Errorf("owner %q", lease.Owner())
		}
		if left := lease.Remaining(); left != ttl-margin {
			t.Errorf("%v remain, want %v", left, ttl-margin)
		}
		for range 100 {
			time.Sleep(time.Second)
			if err := lease.AssertHeld(); err != nil {
				t.Fatal(err)
			}
		}
		if got, ok := b.Lookup(key); !ok || got != lease {
			t.Error("the lease can't be looked up")
		}
		if err := lease.Release(b.Context()); err != nil {
			t.Fatal(err)
		}
		if err := lease.AssertHeld(); !errors.Is(err, tenure.ErrFenced) {
			t.Errorf("released: %v", err)
		}
		if view := b.store.Get(key); view.Record.Held {
			t.Errorf("the store still has %+v", view)
		}
		if _, ok := b.Lookup(key); ok || len(b.Leases()) != 0 {
			t.Error("the lease can still be looked up")
		}
	})
}
