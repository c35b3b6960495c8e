package node

import (
	"example.com/tenure/node/internal/port"
	"example.com/tenure/node/internal/storage"
)

// The seams through which a node reaches the world. With [tenure.Clock] they
// are all there are; a fault harness brings others.
type (
	// Network listens and dials.
	Network = port.Network
	// Storage keeps the node's log, votes and snapshots.
	Storage = storage.Storage
	// Stores are what a Storage gives when it is opened.
	Stores = storage.Stores
)

// TCP returns the network of the operating system.
func TCP() Network { return port.TCP() }

// BoltStorage returns the storage in a folder: raft-boltdb and snapshot files.
func BoltStorage(dir string) Storage { return storage.Bolt(dir) }

// MemoryStorage returns a storage that lives as long as the process: a node
// that is closed and opened again with it finds what it had. It is for tests,
// and for clusters that may forget.
func MemoryStorage() Storage { return storage.Memory() }
