// Package holder holds leases: it acquires tenures from a [tenure.Store],
// renews them in the background, and answers in a write path, without I/O,
// whether a key is still held. The answer is the gate.
//
//	h, err := holder.New(holder.Config{Store: n, Replica: "replica-7"})
//	lease, err := h.Acquire(ctx, "tenant-42")   // or AcquireWait, or AcquireMany
//	err = lease.Do(ctx, func(ctx context.Context) error {
//		return write(ctx, lease.Epoch())
//	})                                          // nil: may be acknowledged
//	err = lease.Release(ctx)                    // a waiting owner has the key at once
//	err = h.Close(ctx)                          // releases all that is left
//
// # What it guarantees
//
// While a gate is open, no other owner is granted the key. Each grant opens it
// until its fence: the instant, on the holder's own clock, at which the request
// was sent, plus the TTL, minus the margin. Slow messages, slow stores and late
// answers only make it close earlier. The gate is closed by the clock, not by a
// timer or a message: a process that slept finds it closed.
//
// A failed renewal leaves the fence where it is, and the holder tries on, also
// past the fence. If the store then says that the tenure still stands, the
// lease is resumed under its epoch: nobody else had the key in between. If it
// says that the tenure is over, the lease is lost for good.
//
// A lease ends once. From when its Done is closed the holder sends nothing
// more about it, and the key can be acquired again for another.
//
// The holder keeps no key from the others that it doesn't serve. It releases a
// lease that was resumed and not used for a TTL, one whose renewals are
// answered too late to be of use, one that was to be forgotten and was neither
// forgotten nor released within a TTL, and what an acquire of unknown outcome
// may have left behind.
//
// All leases of a holder are renewed by one goroutine in batches: ten thousand
// leases need some fifty calls to the store a TTL.
//
// # What it assumes
//
// Over one TTL, the holder's clock runs slower than that of a node by at most
// the margin. That is all for the guarantee above. [BootClock] says which clock
// it is and what a suspended host does to it.
//
// # What it can't do
//
// It can't see what happens after the gate has answered. A process that is
// frozen between its gate and its acknowledgement, or a virtual machine whose
// clocks are frozen with it, acknowledges when it wakes up. The durable layer
// has to refuse that: write under the lease's epoch, look whether that epoch
// was sealed, and only then acknowledge. [Lease.Live] says which copies a
// successor reads.
//
// # What it never does
//
// It never reads a wall clock. It never opens a gate again that was closed for
// good. It never waits for the store, a lock or a reader of a channel to close
// a gate. It never takes an error that is no answer for a loss, nor a silence
// for success.
package holder
