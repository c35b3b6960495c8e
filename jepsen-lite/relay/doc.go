// Package relay puts a TCP relay of the harness onto every way from one host
// to another, so that real processes on one machine can be cut off from each
// other, and worse, without any privilege.
//
// A host is a name, and a process that listens somewhere. Each host that wants
// to reach another dials the address that [Net.Address] gives for just this
// pair. What goes from a to b, be it on connections that a opened or as
// answers on those that b did, is one directed way; faults strike ways.
//
//	n := relay.New()
//	defer n.Close()
//	n.Place("n1", "127.0.0.1:40001") // where n1 listens really
//	addr, err := n.Address("r1", "n1", 0) // what r1 dials instead
//	heal := n.Cut("n1", "r1")           // answers are held back
//	err = n.Verify(ctx, "n1", "r1")     // they are: a real connection was tried
//	heal()
//	err = n.Verify(ctx, "n1", "r1")     // and now they pass
//
// What a relay can't do: it sees streams, so that no packet within one is
// lost, repeated or overtaken; and a connection to a relay is established at
// once, whatever stands: it is what goes over it that waits.
package relay
