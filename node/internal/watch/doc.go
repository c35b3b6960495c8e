// Package watch fans a node's changes out to any number of watchers.
//
// A [Ring] keeps the newest events, in entries: the events of one log entry
// belong together and are kept, dropped and skipped together. One writer
// appends; each [Watcher] reads at a pace of its own and never holds the writer
// up. Entries form a linked list that nobody locks, so the cost of an append
// does not depend on how many watch, and what a watcher is reading stays valid
// after the ring has dropped it.
//
// What is guaranteed: a watcher sees every event that it selects, once, in the
// order of the log, from the index on that it asked for; or one event of kind
// [tenure.EventMissed] that says up to which index it may have missed some.
// Whoever gets one looks at the state again, which by then is at least as new,
// and the watch goes on behind that index. Nothing is ever missed silently.
//
// A watcher that waits is woken by a goroutine of the ring, the crier, which
// runs from the first watch until the ring is closed. It looks a change up by
// its key, so that a watcher of another key costs nothing, and it rests in
// proportion to how many it woke, so that a thousand watchers of every change
// get them in batches under load instead of taking the node's processors.
//
//	r := watch.NewRing(watch.DefaultSize)
//	w := r.Watch(watch.Options{Prefix: "tenants/"})
//	defer w.Close()
//	event, err := w.Next(ctx)
package watch
