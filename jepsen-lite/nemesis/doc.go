// Package nemesis carries out the faults of a plan on real processes and on the
// relays between them, and probes each one: a fault that is not there when it
// was taken, or still there when it was healed, is an error of the run.
//
//	n := nemesis.Nemesis{Plan: p, Hosts: hosts, Net: relays, Journal: journal}
//	err := n.Strike(ctx) // returns at the end of the safety phase, all healed
//
// Whose processes they are is for the implementer of [Hosts].
package nemesis
