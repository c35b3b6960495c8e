// Package fleet is the arena in which somebody's own fleet is put under faults:
// replicas that the harness starts, kills and pauses, and whose connections to
// each other go through its relays. It is looked at from outside only: clients
// write and read, and the history has what they saw.
//
// An [Adapter] is the fleet, and [Processes] is most of one where replicas are
// processes. What an adapter can't do is found out before the plan is drawn.
//
//	a, err := fleet.Open(ctx, fleet.Config{Adapter: mine, Replicas: 3, Keys: keys, Kinds: fleet.Kinds(), Dir: dir, ...})
//	defer a.Close()
//	p := fleet.Draw(seed, fleet.Options{Kinds: a.Kinds(), ...})
//	err = a.Carry(ctx, p, history, terms, nil)
//
// Most users want jepsenlite.Run, which does all of it.
package fleet
