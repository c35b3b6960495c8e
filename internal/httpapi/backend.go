package httpapi

import (
	"context"

	"example.com/tenure"
)

// A Backend is what the server answers from: a node. Its methods can be called
// concurrently and honour their contexts; their errors are those of package
// tenure. An error of another kind is answered as unavailable.
type Backend interface {
	tenure.Store
	Reader
	Cluster
}

// A Reader looks records up and watches them.
type Reader interface {
	// Get returns a key's record, linearizably.
	Get(ctx context.Context, key string) (tenure.View, error)
	// List returns a page of records.
	List(ctx context.Context, l tenure.Listing) (tenure.Page, error)
	// Watch begins a watch, which whoever asked for it closes.
	Watch(o WatchOptions) (Watcher, error)
}

// A Cluster is the node as a member, and what changes the membership.
type Cluster interface {
	Status() tenure.Status
	// Ready returns nil if the node can serve, or what it waits for.
	Ready() error
	Members(ctx context.Context) ([]tenure.Member, error)
	Join(ctx context.Context, id, addr string, nonvoter bool) error
	Remove(ctx context.Context, id string) error
	Transfer(ctx context.Context, id string) error
}

// WatchOptions select what a watch sees: every key, the keys that start with
// Prefix, or Key alone; at most one of them is set.
type WatchOptions struct {
	Prefix string
	Key    string
	// After is the log index after whose changes the watch begins if HasAfter
	// is set; else it begins now.
	After    uint64
	HasAfter bool
}

// A Watcher reads a watch. Only Close may be called concurrently with the
// others.
type Watcher interface {
	// Next blocks until there is a change, the watcher or the node is closed,
	// or ctx ends. An event of kind [tenure.EventMissed] says that changes were
	// missed up to its index; the watch goes on behind it.
	Next(ctx context.Context) (tenure.Event, error)
	// More reports whether the entry of the event that Next returned last made
	// further changes that the watch sees: a watch begun after that event's
	// index would miss them.
	More() bool
	// Close ends the watch and a Next that waits. It can be called again.
	Close()
}
