package leader

import (
	"container/heap"
	"time"
)

// An agenda is what the leader has to look at later, by the time it is due: a
// line, whose key's tenure may have expired by then, or an asker, whose wait is
// over.
type agenda struct{ heap appointments }

// An appointment is one entry of an agenda, and can be called off.
type appointment struct {
	due   time.Duration
	line  *line  // to look at, or nil
	asker *asker // whose wait is over, or nil
	index int    // in the heap, -1 when it is in none
}

// add makes an appointment.
func (a *agenda) add(x *appointment) *appointment {
	heap.Push(&a.heap, x)
	return x
}

// drop calls an appointment off; nil and one that is past are fine.
func (a *agenda) drop(x *appointment) {
	if x != nil && x.index >= 0 {
		heap.Remove(&a.heap, x.index)
	}
}

// next returns when the earliest appointment is due.
func (a *agenda) next() (due time.Duration, ok bool) {
	if len(a.heap) == 0 {
		return 0, false
	}
	return a.heap[0].due, true
}

// take removes and returns the earliest appointment if it is due at now, else
// nil.
func (a *agenda) take(now time.Duration) *appointment {
	if len(a.heap) == 0 || a.heap[0].due > now {
		return nil
	}
	return heap.Pop(&a.heap).(*appointment)
}

type appointments []*appointment

func (h appointments) Len() int           { return len(h) }
func (h appointments) Less(i, j int) bool { return h[i].due < h[j].due }

func (h appointments) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *appointments) Push(x any) {
	entry := x.(*appointment)
	entry.index = len(*h)
	*h = append(*h, entry)
}

func (h *appointments) Pop() any {
	last := len(*h) - 1
	entry := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	entry.index = -1
	return entry
}
