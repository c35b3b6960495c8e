package watch

import (
	"errors"
	"fmt"
	"sync/atomic"

	"example.com/tenure"
)

// DefaultSize is how many events a node's ring keeps.
const DefaultSize = 65536

// ErrClosed is why the watchers of a closed ring, and a closed watcher, see no
// more.
var ErrClosed = errors.New("the watch is closed")

// A Ring keeps the newest events. Append and Reset are for one goroutine; all
// else can be called concurrently.
type Ring struct {
	size int
	kept int // events after oldest; only the writer uses it
	// oldest is the entry before the first one that is kept: all events with a
	// higher index are there.
	oldest atomic.Pointer[entry]
	newest atomic.Pointer[entry]
	crier  crier
}

// NewRing returns a ring of the newest size events, at least one, which knows
// everything since log index 0. It has to be closed once it was watched.
func NewRing(size int) *Ring {
	if size < 1 {
		panic(fmt.Sprintf("watch: a ring of %d events", size))
	}
	r := &Ring{size: size}
	start := &entry{}
	r.oldest.Store(start)
	r.newest.Store(start)
	r.crier.init(r)
	return r
}

// Append adds the events that the log entry with that index made, if any, and
// keeps the slice. It never blocks, and its cost does not depend on the number
// of watchers. What the ring has had already is passed over: entries are applied
// again after an older snapshot was restored, and make the same events.
func (r *Ring) Append(index uint64, events []tenure.Event) {
	if len(events) > 0 && index > r.newest.Load().index {
		r.add(&entry{index: index, events: events})
	}
}

// Reset says that the state was replaced by a snapshot at that index: whoever
// has not seen everything up to there has missed changes.
func (r *Ring) Reset(index uint64) {
	if index > r.newest.Load().index {
		r.add(&entry{index: index, events: []tenure.Event{{Kind: tenure.EventMissed, Index: index}}})
	}
}

// add links the entry, wakes whom it concerns, and drops what there is no room
// for. The newest entry stays, however large.
func (r *Ring) add(e *entry) {
	r.newest.Load().next.Store(e)
	r.newest.Store(e)
	r.crier.notify()
	r.kept += len(e.events)
	for r.kept > r.size {
		old := r.oldest.Load()
		first := old.next.Load()
		if first == e {
			return
		}
		r.kept -= len(first.events)
		r.oldest.Store(first)
		old.next.Store(dropped)
	}
}

// since returns the entry after which a watch goes on that has seen everything
// up to index, or nil if some of what came after it is gone.
func (r *Ring) since(index uint64) *entry {
	for {
		e := r.oldest.Load()
		if e.index > index {
			return nil
		}
		for {
			next := e.next.Load()
			if next == nil || next != dropped && next.index > index {
				return e
			}
			if next == dropped {
				break // overtaken by the writer: look again
			}
			e = next
		}
	}
}

// Close ends all watches, and returns once nothing of the ring runs. It can be
// called again.
func (r *Ring) Close() { r.crier.close() }
