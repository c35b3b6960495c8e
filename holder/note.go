package holder

import "github.com/hashicorp/go-hclog"

// A note is a line for the log. Notes are taken with the holder's lock held
// and written without it: a log that blocks must not stand in the way of a
// release.
type note struct {
	level   hclog.Level
	message string
	args    []any
}

func (h *Holder) note(level hclog.Level, message string, args ...any) {
	h.notes = append(h.notes, note{level, message, args})
}

// unlock gives the holder's lock up and writes what was noted.
func (h *Holder) unlock() {
	notes := h.notes
	h.notes = nil
	h.mu.Unlock()
	for _, n := range notes {
		h.log.Log(n.level, n.message, n.args...)
	}
}
