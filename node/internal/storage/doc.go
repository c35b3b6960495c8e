// Package storage keeps what Raft must not forget: the log, the vote and the
// snapshots of one node.
//
// It has two halves. A [Storage] is where the bytes are: [Bolt] on disk,
// [Memory] in the process, or what a fault harness brings. A [Guarded] stands
// between any of them and Raft, and is what makes a broken disk stop the node
// instead of its host.
//
// The guard promises:
//
//   - No error, panic or memory fault of a store reaches Raft, which would
//     answer it with a panic on a goroutine of its own, where no recover
//     helps. The first of them is reported once, through GuardConfig.Fail;
//     from then on nothing is written, and every goroutine of Raft that calls
//     a log or stable store ends there.
//   - A call that hangs makes the node say so ([Guarded.Stalled]) and, when it
//     hangs on, fails it. What such a call still does in the end is never
//     acknowledged.
//   - What is read is what was stored. Every entry has a checksum, which covers
//     its place as well, the stable values have one together, and so has what a
//     snapshot says of itself; entries from peers are checked before they are
//     stored. Where that does not hold the node fails with the name of what is
//     damaged.
//   - The log has no holes and terms never go down in it.
//
// The guard assumes that Raft runs with the pipeline off
// (MaxRPCsInFlight 1: a goroutine that ends inside a pipeline would leave
// another behind, for which Raft's shutdown waits), and that a call of
// raft.NewRaft, raft.BootstrapCluster and the like is made inside [Go].
//
// It does not protect from a disk that brings back an older state, whole and
// consistent: that looks like the past, not like damage. Nor can it stop a
// write that another goroutine had begun when the stores failed.
//
//	stores, err := storage.Bolt(dir).Open(logger)
//	guard := storage.Guard(stores, storage.GuardConfig{Fail: stop, CheckEntry: fsm.CheckEntry, Clock: clock})
//	err = guard.Check() // everything, once, before Raft sees it
//	s := guard.ForRaft()
//	err = <-storage.Go(func() { r, rerr = raft.NewRaft(conf, sm, s.Log, s.Stable, s.Snapshots, trans) })
package storage
