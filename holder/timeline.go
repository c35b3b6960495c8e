package holder

import (
	"container/heap"
	"time"
)

// A timeline is a heap of leases by the instant at which something is due.
type timeline struct{ marks []*mark }

// A mark is a lease's place in a timeline. The zero mark is in none.
type mark struct {
	lease *Lease
	at    time.Duration
	place int // index in the timeline plus one, 0 if it is not in it
}

// set puts m at an instant, whether it was in the timeline or not, and reports
// whether it is now the first.
func (t *timeline) set(m *mark, at time.Duration) bool {
	m.at = at
	if m.place == 0 {
		heap.Push((*marks)(t), m)
	} else {
		heap.Fix((*marks)(t), m.place-1)
	}
	return m.place == 1
}

// remove takes m out if it is in.
func (t *timeline) remove(m *mark) {
	if m.place != 0 {
		heap.Remove((*marks)(t), m.place-1)
	}
}

// first returns the earliest mark, or nil.
func (t *timeline) first() *mark {
	if len(t.marks) == 0 {
		return nil
	}
	return t.marks[0]
}

// due removes and returns the lease of the earliest mark if its instant has
// come, or returns nil.
func (t *timeline) due(now time.Duration) *Lease {
	m := t.first()
	if m == nil || m.at > now {
		return nil
	}
	t.remove(m)
	return m.lease
}

// marks is a timeline as container/heap wants it.
type marks timeline

func (h *marks) Len() int           { return len(h.marks) }
func (h *marks) Less(i, j int) bool { return h.marks[i].at < h.marks[j].at }

func (h *marks) Swap(i, j int) {
	h.marks[i], h.marks[j] = h.marks[j], h.marks[i]
	h.marks[i].place, h.marks[j].place = i+1, j+1
}

func (h *marks) Push(x any) {
	m := x.(*mark)
	h.marks = append(h.marks, m)
	m.place = len(h.marks)
}

func (h *marks) Pop() any {
	last := len(h.marks) - 1
	m := h.marks[last]
	h.marks[last] = nil
	h.marks = h.marks[:last]
	m.place = 0
	return m
}
