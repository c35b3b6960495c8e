// Package tenure is the vocabulary of a lease cluster that a fleet of service
// replicas embeds. It keeps one promise: a key has at most one owner at a time.
//
// The words used everywhere:
//
//   - A key is what is owned, typically a tenant.
//   - An owner is one process incarnation of a replica.
//   - A tenure is one uninterrupted ownership of a key by an owner. Its epoch
//     is higher than that of every tenure of the key before it, and serves as
//     the fencing token.
//   - A grant is what an acquire or a renewal returns. The newest one of a
//     tenure is named by its grant index, the index of its Raft log entry.
//   - The fence is the instant, on the holder's own monotonic clock, at which
//     the holder stops by itself; the margin is how long before the store
//     would admit anyone else that is.
//   - The gate is the synchronous check in a holder's write path.
//   - Durable copies of a key that were written under its forgotten epoch or
//     an earlier one are dead.
//
// The package imports nothing of the module. The state machine is in package
// fsm, the replicated store in package node, and the holder's side, with the
// gate, in package holder. A program needs a [Store], which a node or a client
// made by node.Dial is, and a holder:
//
//	h, err := holder.New(holder.Config{Store: n, Replica: "replica-7"})
//	lease, err := h.Acquire(ctx, "tenant-42")
//	err = lease.Do(ctx, write) // nil: acknowledged, and nobody else owned the key
//	err = lease.Release(ctx)
package tenure
