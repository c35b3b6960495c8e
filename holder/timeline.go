package holder

import (
	"container/heap"
	"time"
)

// A timeline is leases by the instant at which something is due. Thousands of
// them share an instant, as renewals are sent in batches and on beats, so it is
// a heap of instants with the leases of each in a list.
type timeline struct {
	moments []*moment // a heap by instant
	at      map[time.Duration]*moment
}

// A moment is an instant and the marks on it, of which there is at least one.
type moment struct {
	at          time.Duration
	place       int // index in the timeline
	first, last *mark
}

// A mark is a lease's place in a timeline. The zero mark, but for its lease, is
// in none.
type mark struct {
	lease      *Lease
	moment     *moment // nil if it is in no timeline
	prev, next *mark   // on the same moment
}

// set puts m at an instant, whether it was in the timeline or not, and reports
// whether that made the instant the earliest.
func (t *timeline) set(m *mark, at time.Duration) bool {
	t.remove(m)
	on := t.at[at]
	if on == nil {
		on = &moment{at: at}
		if t.at == nil {
			t.at = make(map[time.Duration]*moment)
		}
		t.at[at] = on
		heap.Push((*moments)(t), on)
	}
	m.moment, m.prev = on, on.last
	if on.last != nil {
		on.last.next = m
	} else {
		on.first = m
	}
	on.last = m
	return on.place == 0 && on.first == m
}

// remove takes m out if it is in.
func (t *timeline) remove(m *mark) {
	on := m.moment
	if on == nil {
		return
	}
	if m.prev != nil {
		m.prev.next = m.next
	} else {
		on.first = m.next
	}
	if m.next != nil {
		m.next.prev = m.prev
	} else {
		on.last = m.prev
	}
	m.moment, m.prev, m.next = nil, nil, nil
	if on.first == nil {
		heap.Remove((*moments)(t), on.place)
		delete(t.at, on.at)
	}
}

// earliest returns the first instant at which something is due.
func (t *timeline) earliest() (at time.Duration, ok bool) {
	if len(t.moments) == 0 {
		return 0, false
	}
	return t.moments[0].at, true
}

// due removes and returns a lease of the earliest instant if that has come, or
// returns nil.
func (t *timeline) due(now time.Duration) *Lease {
	if at, ok := t.earliest(); !ok || at > now {
		return nil
	}
	m := t.moments[0].first
	t.remove(m)
	return m.lease
}

// moments is a timeline as container/heap wants it.
type moments timeline

func (h *moments) Len() int           { return len(h.moments) }
func (h *moments) Less(i, j int) bool { return h.moments[i].at < h.moments[j].at }

func (h *moments) Swap(i, j int) {
	h.moments[i], h.moments[j] = h.moments[j], h.moments[i]
	h.moments[i].place, h.moments[j].place = i, j
}

func (h *moments) Push(x any) {
	m := x.(*moment)
	m.place = len(h.moments)
	h.moments = append(h.moments, m)
}

func (h *moments) Pop() any {
	last := len(h.moments) - 1
	m := h.moments[last]
	h.moments[last] = nil
	h.moments = h.moments[:last]
	return m
}
