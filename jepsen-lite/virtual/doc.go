// Package virtual is the arena in virtual time: the whole stack (real nodes,
// real Raft, the real wire, real holders) in a testing/synctest bubble, over a
// simulated network, simulated disks and a clock for each host. It reaches the
// product through its three seams, node.Network, node.Storage and
// tenure.Clock, and through nothing else.
//
// An hour of cluster time takes seconds. What replays is the plan: the
// interleaving of goroutines is the scheduler's, and Raft draws its timeouts
// from a source of its own, so that two runs of a plan differ in their
// messages.
package virtual
