package jepsenlite

import "example.com/tenure/jepsen-lite/fleet"

// The words of a user's own fleet, see package fleet.
type (
	// A Fleet is what is tested, behind six methods.
	Fleet = fleet.Adapter
	// A Replica is one of the fleet as it has to be started.
	Replica = fleet.Replica
	// A Peer is a replica as another one has to reach it.
	Peer = fleet.Peer
	// An Ack says who acknowledged a write.
	Ack = fleet.Ack
	// Values are what a read found.
	Values = fleet.Values
	// Processes are replicas that are processes: four of the six methods.
	Processes = fleet.Processes
)

// ErrRefused marks a write that was surely not done and never will be.
var ErrRefused = fleet.ErrRefused

// FleetFaults returns the names of all kinds of faults that can strike a fleet.
func FleetFaults() []string { return fleet.Kinds() }
