// Package workload is what replicas do in a run: they acquire keys, write to
// durable copies through the gate, hand over, forget. It runs in any arena,
// which gives each incarnation of a replica its store, its clock, the journal
// that it writes down everything in, and the durable copies of the keys.
//
// All that is written down is written by whoever decides: an invocation before
// the request leaves, a completion after the answer came, a gate with a reading
// of the clock from before it was asked. A process that stands still at any
// step never makes the history claim more than what is so.
//
//	p, err := workload.Start(ctx, workload.Config{Name: "r1", Store: client, ...})
//	...
//	p.Close() // releases all that it holds; a process that is dead does not
package workload
