package tenure_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
	"example.com/tenure/node"
)

// The code of docs/embedding.md. It runs on a cluster of one node in memory.

// openNode returns a node that is ready, and what closes it.
func openNode() (*node.Node, func()) {
	addr := freeAddr()
	n, err := node.Open(context.Background(), node.Config{ID: "n1", Listen: addr,
		Storage: node.MemoryStorage(), Peers: []node.Peer{{ID: "n1", Addr: addr}}})
	if err != nil {
		log.Fatal(err)
	}
	if err := n.WaitReady(context.Background()); err != nil {
		log.Fatal(err)
	}
	return n, func() { n.Close() }
}

// run is the life of a service: start, serve, and end when told to or when the
// node has failed.
func run(ctx context.Context, cfg node.Config, serveTenants func(ctx context.Context, h *holder.Holder) error) error {
	n, err := node.Open(ctx, cfg)
	if err != nil {
		return err // a malformed config, or data that can't be read: nothing was changed
	}
	defer n.Close() // last: hands leadership over, returns within 5 s
	if err := n.WaitReady(ctx); err != nil {
		return err // says what the node still waits for
	}

	h, err := holder.New(holder.Config{Store: n, Replica: cfg.ID})
	if err != nil {
		return err
	}
	defer h.Close(context.WithoutCancel(ctx)) // before the node: releases what is held

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-n.Done(): // the node failed: this process can hold nothing much longer
			cancel(n.Err())
		case <-ctx.Done():
		}
	}()
	return serveTenants(ctx, h)
}

func Example_lifecycle() {
	addr := freeAddr()
	err := run(context.Background(), node.Config{ID: "n1", Listen: addr,
		Storage: node.MemoryStorage(), Peers: []node.Peer{{ID: "n1", Addr: addr}}},
		func(ctx context.Context, h *holder.Holder) error {
			lease, err := h.Acquire(ctx, "tenant-42")
			fmt.Println("serving:", lease.AssertHeld() == nil)
			return err
		})
	fmt.Println("error:", err)
	// Output:
	// serving: true
	// error: <nil>
}

// handle is a request for a tenant that this replica may own.
func handle(ctx context.Context, h *holder.Holder, tenant string, write func(ctx context.Context, epoch uint64) error) error {
	lease, ok := h.Lookup(tenant)
	if !ok {
		return errors.New("not here") // see Routing
	}
	err := lease.Do(ctx, func(ctx context.Context) error {
		return write(ctx, lease.Epoch())
	})
	if errors.Is(err, tenure.ErrFenced) {
		// The write may have been done or not. Don't acknowledge: let the client
		// repeat the request under the same id.
		return fmt.Errorf("try again: %w", err)
	}
	return err
}

func Example_gate() {
	n, stop := openNode()
	defer stop()
	ctx := context.Background()
	h, _ := holder.New(holder.Config{Store: n, Replica: "replica-1"})
	defer h.Close(ctx)
	lease, _ := h.Acquire(ctx, "tenant-42")

	write := func(_ context.Context, epoch uint64) error { return nil }
	fmt.Println("acknowledged:", handle(ctx, h, "tenant-42", write) == nil)
	lease.Release(ctx)
	fmt.Println(handle(ctx, h, "tenant-42", write))
	// Output:
	// acknowledged: true
	// not here
}

// route says where a request for a tenant goes, without I/O.
func route(n *node.Node, h *holder.Holder, tenant string) (owner string, here bool) {
	if _, ok := h.Lookup(tenant); ok {
		return h.Owner(), true
	}
	o := n.Owner(tenant)
	if !o.Held || o.Expired {
		return "", false // nobody's now
	}
	return o.Owner, false
}

func Example_routing() {
	n, stop := openNode()
	defer stop()
	ctx := context.Background()
	mine, _ := holder.New(holder.Config{Store: n, Replica: "replica-1"})
	defer mine.Close(ctx)
	other, _ := holder.New(holder.Config{Store: n, Replica: "replica-2"})
	defer other.Close(ctx)
	_, _ = mine.Acquire(ctx, "tenant-1")
	_, _ = other.Acquire(ctx, "tenant-2")

	for _, tenant := range []string{"tenant-1", "tenant-2", "tenant-3"} {
		owner, here := route(n, mine, tenant)
		fmt.Println(tenant, "owned:", owner != "", "here:", here)
	}
	// Output:
	// tenant-1 owned: true here: true
	// tenant-2 owned: true here: false
	// tenant-3 owned: false here: false
}

// outcome says what a caller does about an error of Acquire.
func outcome(err error) string {
	var held *tenure.HeldError
	var unavailable *tenure.UnavailableError
	switch {
	case err == nil:
		return "owned"
	case errors.As(err, &unavailable): // first: its cause may be one of the others
		return "unknown, try again"
	case errors.As(err, &held):
		return fmt.Sprintf("owned by another at epoch %d", held.Record.Epoch)
	case errors.Is(err, tenure.ErrInvalid):
		return "a bug: " + err.Error()
	}
	return "lost on the way, try again"
}

func Example_errors() {
	n, stop := openNode()
	defer stop()
	ctx := context.Background()
	a, _ := holder.New(holder.Config{Store: n, Replica: "replica-1"})
	defer a.Close(ctx)
	b, _ := holder.New(holder.Config{Store: n, Replica: "replica-2"})
	defer b.Close(ctx)

	for _, h := range []*holder.Holder{a, b} {
		_, err := h.Acquire(ctx, "tenant-42")
		fmt.Println(outcome(err))
	}
	_, err := b.Acquire(ctx, "")
	fmt.Println(outcome(err))
	// Output:
	// owned
	// owned by another at epoch 1
	// a bug: invalid key "": must be 1 to 512 bytes of UTF-8 without control characters
}

// once does something that must not run twice at a time, under a key that nobody
// will want to know of afterwards.
func once(ctx context.Context, h *holder.Holder, key string, f func(ctx context.Context) error) error {
	lease, err := h.Acquire(ctx, key)
	if err != nil {
		return err
	}
	err = lease.Do(ctx, f)
	return errors.Join(err, lease.ReleaseForgotten(ctx))
}

func Example_oneOff() {
	n, stop := openNode()
	defer stop()
	ctx := context.Background()
	h, _ := holder.New(holder.Config{Store: n, Replica: "replica-1"})
	defer h.Close(ctx)

	err := once(ctx, h, "migration/2026-11", func(context.Context) error { return nil })
	fmt.Println(err, n.Status().Records, "records")
	// Output:
	// <nil> 0 records
}

func Example_watch() {
	n, stop := openNode()
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	h, _ := holder.New(holder.Config{Store: n, Replica: "replica-1"})
	defer h.Close(ctx)

	w, err := n.Watch(node.WatchOptions{Prefix: "tenant-"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	lease, _ := h.Acquire(ctx, "tenant-42")
	lease.Release(ctx)
	for range 2 {
		e, err := w.Next(ctx)
		fmt.Println(e.Kind, e.Record.Key, "epoch", e.Record.Epoch, err)
	}
	// Output:
	// granted tenant-42 epoch 1 <nil>
	// released tenant-42 epoch 1 <nil>
}
