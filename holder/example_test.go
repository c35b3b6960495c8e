package holder_test

import (
	"context"
	"errors"
	"fmt"

	"example.com/tenure"
	"example.com/tenure/holder"
	"example.com/tenure/holder/holdertest"
)

// A replica acquires a tenant, writes as its owner, and hands it over.
func Example() {
	ctx := context.Background()
	store := holdertest.NewStore(nil) // in a service: an embedded node, or node.Dial

	h, err := holder.New(holder.Config{Store: store, Replica: "replica-7"})
	if err != nil {
		fmt.Println(err)
		return
	}
	lease, err := h.Acquire(ctx, "tenant-42")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = lease.Do(ctx, func(context.Context) error {
		fmt.Println("write under epoch", lease.Epoch())
		return nil
	})
	fmt.Println("acknowledged:", err == nil)
	fmt.Println("released:", lease.Release(ctx) == nil)
	fmt.Println("still held:", lease.AssertHeld() == nil)
	fmt.Println("closed:", h.Close(ctx) == nil)
	// Output:
	// write under epoch 1
	// acknowledged: true
	// released: true
	// still held: false
	// closed: true
}

// Two replicas of a fleet share the store. One has the tenant; the other is
// refused, and then waits in line until it is handed over.
func ExampleHolder_AcquireWait() {
	ctx := context.Background()
	store := holdertest.NewStore(nil)
	old, _ := holder.New(holder.Config{Store: store, Replica: "replica-1"})
	next, _ := holder.New(holder.Config{Store: store, Replica: "replica-2"})
	defer next.Close(ctx)

	_, _ = old.Acquire(ctx, "tenant-42")
	_, err := next.Acquire(ctx, "tenant-42")
	fmt.Println("held by another:", errors.Is(err, tenure.ErrHeld))

	go old.Close(ctx) // a rolling restart
	lease, err := next.AcquireWait(ctx, "tenant-42")
	fmt.Println("epoch", lease.Epoch(), err)
	// Output:
	// held by another: true
	// epoch 2 <nil>
}

// A replica asks for all tenants that it should serve at once.
func ExampleHolder_AcquireMany() {
	ctx := context.Background()
	store := holdertest.NewStore(nil)
	h, _ := holder.New(holder.Config{Store: store, Replica: "replica-7"})
	defer h.Close(ctx)

	for _, a := range h.AcquireMany(ctx, []string{"tenant-1", "", "tenant-3"}) {
		fmt.Printf("%q: lease %t, invalid %t\n", a.Key, a.Lease != nil, errors.Is(a.Err, tenure.ErrInvalid))
	}
	// Output:
	// "tenant-1": lease true, invalid false
	// "": lease false, invalid true
	// "tenant-3": lease true, invalid false
}

// A write path that can't be put into a function looks at the gate before and
// after its work. The error says why the gate is closed.
func ExampleLease_AssertHeld() {
	ctx := context.Background()
	store := holdertest.NewStore(nil)
	h, _ := holder.New(holder.Config{Store: store, Replica: "replica-7"})
	defer h.Close(ctx)
	lease, _ := h.Acquire(ctx, "tenant-42")
	fmt.Println("before:", lease.AssertHeld())

	_ = lease.Release(ctx) // somebody drains the replica meanwhile

	var fenced *tenure.FencedError
	if errors.As(lease.AssertHeld(), &fenced) {
		fmt.Println("after:", fenced.Reason)
	}
	// Output:
	// before: <nil>
	// after: lease_released
}

// A reader looks for the newest live copy of a tenant's state.
func ExampleLease_Live() {
	ctx := context.Background()
	store := holdertest.NewStore(nil)
	h, _ := holder.New(holder.Config{Store: store, Replica: "replica-7"})
	defer h.Close(ctx)

	first, _ := h.Acquire(ctx, "tenant-42")
	_, _ = first.Forget(ctx) // all copies up to here are dead
	_ = first.Release(ctx)

	second, _ := h.Acquire(ctx, "tenant-42")
	for epoch := range uint64(4) {
		fmt.Println(epoch, second.Live(epoch))
	}
	// Output:
	// 0 false
	// 1 false
	// 2 true
	// 3 false
}
