package holder

import (
	"container/heap"
	"time"
)

// A timeline is leases by the instant at which something is due. Thousands of
// them share an instant, as renewals are sent in batches and on beats, so it is
// a heap of instants with the leases of each.
type timeline struct {
	moments []*moment // a heap by instant
	at      map[time.Duration]*moment
}

// A moment is an instant and the marks on it, of which there is at least one.
// They are in a slice, not in a list: going through thousands of leases that are
// all over the memory, the processor then fetches the next ones ahead.
type moment struct {
	at    time.Duration
	place int     // index in the timeline
	marks []*mark // nil where one was taken out
	given int     // all before this one were
	left  int     // that are not nil
}

// A mark is a lease's place in a timeline. The zero mark, but for its lease, is
// in none.
type mark struct {
	lease  *Lease
	moment *moment // nil if it is in no timeline
	index  int     // in the moment's marks
}

// set puts m at an instant, whether it was in the timeline or not, and reports
// whether that made the instant the earliest.
func (t *timeline) set(m *mark, at time.Duration) bool {
	if m.moment != nil && m.moment.at == at {
		return false
	}
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
	m.moment, m.index = on, len(on.marks)
	on.marks = append(on.marks, m)
	on.left++
	return on.place == 0 && on.left == 1
}

// remove takes m out if it is in.
func (t *timeline) remove(m *mark) {
	on := m.moment
	if on == nil {
		return
	}
	on.marks[m.index], m.moment = nil, nil
	if on.left--; on.left == 0 {
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
	on := t.moments[0]
	for on.marks[on.given] == nil {
		on.given++
	}
	m := on.marks[on.given]
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
