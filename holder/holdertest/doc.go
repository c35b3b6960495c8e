// Package holdertest has a store in memory, for tests of programs that hold
// leases. It keeps every rule that a caller of a [tenure.Store] can see: exact
// retries by request id, epochs that never repeat, waits in line, and expiry
// that changes nothing until somebody else is granted the key.
//
// It is one store in one process: nothing is replicated, and nothing survives
// it. Holders that share it behave to each other as they would over a cluster.
//
// With testing/synctest, tests run in virtual time: make both the store and
// the holder with [tenure.MonotonicClock], inside the bubble. The holder's own
// default, holder.BootClock, reads the host's clock, which no bubble can hold
// back.
//
//	synctest.Test(t, func(t *testing.T) {
//		clock := tenure.MonotonicClock()
//		store := holdertest.NewStore(clock)
//		h, err := holder.New(holder.Config{Store: store, Replica: "replica-1", Clock: clock})
//		...
//		store.SetReachable(false)
//		time.Sleep(10 * time.Second) // the gates are closed now
//	})
package holdertest
