package watch

import (
	"sync/atomic"

	"example.com/tenure"
)

// An entry is the events of one log entry, or of a gap. It never changes but
// for next.
type entry struct {
	index  uint64
	events []tenure.Event
	// next is the entry after this one; nil while this is the newest, and
	// dropped once this one has left the ring.
	next atomic.Pointer[entry]
}

// dropped stands behind an entry that has left the ring. It cuts the list, so
// that a watcher which stays there keeps one entry alive and not all after it.
var dropped = &entry{}

// A filter selects events.
type filter struct {
	prefix, key string
}

// first returns the place of the first event from place from on which the
// filter selects, or the number of events. It selects every gap.
func (f *filter) first(events []tenure.Event, from int) int {
	for i := from; i < len(events); i++ {
		e := &events[i]
		if e.Kind == tenure.EventMissed || f.selects(e.Record.Key) {
			return i
		}
	}
	return len(events)
}

func (f *filter) selects(key string) bool {
	if f.key != "" {
		return key == f.key
	}
	return len(key) >= len(f.prefix) && key[:len(f.prefix)] == f.prefix
}
