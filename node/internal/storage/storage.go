package storage

import (
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// A Storage keeps the state of one node across its closing and opening again.
type Storage interface {
	// Open gives the stores to their only user. It fails if they are in use,
	// and if what they hold can't be read: it never starts afresh over data.
	// What the stores have to tell goes to logger.
	Open(logger hclog.Logger) (Stores, error)
}

// Stores are what a Storage gives: the log, the stable store and the snapshots
// of one node. They keep the contracts that Raft expects of them: GetLog
// returns raft.ErrLogNotFound itself, and an absent stable value is an error
// with the text "not found" or no value. The log may rely on having no holes.
type Stores struct {
	Log       raft.LogStore
	Stable    raft.StableStore
	Snapshots raft.SnapshotStore

	// Name is what errors call the stores, such as the path of their folder.
	Name string
	// Close ends the use of the stores. It is called once, when no call into
	// them runs any more.
	Close func() error
}
