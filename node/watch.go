package node

import (
	"context"
	"fmt"

	"example.com/tenure"
	"example.com/tenure/node/internal/watch"
)

// WatchOptions select what a watch sees: every key, the keys that start with
// Prefix, or Key alone; at most one of them is set.
type WatchOptions struct {
	Prefix string
	Key    string
	// After is the log index after whose changes the watch begins, if Resume is
	// set; else it begins now.
	After  uint64
	Resume bool
}

// A Watch reads the changes that this node applies. Only Close may be called
// concurrently with the others.
type Watch struct{ watcher *watch.Watcher }

// Watch begins a watch of this node's state, with no I/O. A watch that is too
// slow, or resumes from too long ago, is told with an event of kind
// [tenure.EventMissed] up to which index it may have missed changes; it then
// looks at the state again and goes on. The error is an [*tenure.InvalidError].
func (n *Node) Watch(o WatchOptions) (*Watch, error) {
	if o.Prefix != "" && o.Key != "" {
		return nil, &tenure.InvalidError{Field: "prefix", Value: fmt.Sprintf("%q", o.Prefix), Bound: "left out where a key is watched"}
	}
	if o.Key != "" {
		if err := tenure.ValidateKey(o.Key); err != nil {
			return nil, err
		}
	}
	return &Watch{n.ring.Watch(watch.Options{Prefix: o.Prefix, Key: o.Key, After: o.After, HasAfter: o.Resume})}, nil
}

// Next blocks until there is a change, the watch or the node is closed, or ctx
// ends.
func (w *Watch) Next(ctx context.Context) (tenure.Event, error) { return w.watcher.Next(ctx) }

// More reports whether the log entry of the event that Next returned last made
// further changes that the watch sees: a watch resumed after that event's index
// would miss them.
func (w *Watch) More() bool { return w.watcher.More() }

// Close ends the watch, and a Next that waits. It can be called again.
func (w *Watch) Close() { w.watcher.Close() }
