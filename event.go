package tenure

import "strconv"

// An EventKind says what an [Event] reports.
type EventKind uint8

// The kinds of events. A renewal is none.
const (
	EventGranted   EventKind = iota + 1 // a tenure began; a tenure of the key before it is over
	EventReleased                       // a tenure was released
	EventForgotten                      // the key's forgotten epoch rose
	EventMissed                         // the watch missed changes up to Index: look at the state again
)

var eventNames = [...]string{"unknown", "granted", "released", "forgotten", "missed"}

// String returns the kind's name in the HTTP API.
func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return "event(" + strconv.Itoa(int(k)) + ")"
}

// An Event is a change of a key's record, as a watch reports it.
type Event struct {
	Kind EventKind
	// Index is that of the log entry that made the change. The events of one
	// entry share it, in the order of its commands.
	Index  uint64
	Record Record // after the change; empty for EventMissed
}
