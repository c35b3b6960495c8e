package fsm

import (
	"bytes"
	"container/heap"
	"slices"
)

// List returns records in the order of their keys' bytes: those whose key
// starts with prefix and comes after cursor, and which are tenures of owner
// that stand if it isn't empty; at most limit of them. next is the cursor of
// the page after it, "" if this is the last.
//
// There is no ordered index to keep up to date, so a page looks at every record
// once, which is some 20 ms at a million records, and allocates only for what
// it returns.
func (s *State) List(prefix, owner, cursor string, limit int) (page []Lookup, next string) {
	if limit < 1 {
		return nil, ""
	}
	top := lowest{table: &s.table}
	more := false
	p, after := []byte(prefix), []byte(cursor)
	for slot := range s.Slots() {
		_, t := s.at(slot)
		if t == nil || !bytes.HasPrefix(s.key(slot), p) || bytes.Compare(s.key(slot), after) <= 0 {
			continue
		}
		if owner != "" && (!s.held(slot) || s.owners.name(t.owner) != owner) {
			continue
		}
		more = top.offer(slot, limit) || more
	}
	slices.SortFunc(top.slots, func(a, b uint32) int { return bytes.Compare(s.key(a), s.key(b)) })
	for _, slot := range top.slots {
		page = append(page, s.describe(slot, string(s.key(slot))))
	}
	if more {
		next = page[len(page)-1].Record.Key
	}
	return page, next
}

// A lowest holds the slots with the lowest keys of all it was offered, as a
// heap with the highest of them on top.
type lowest struct {
	table *table
	slots []uint32
}

// offer takes a slot, and reports whether there was no room for it or for one
// with a higher key.
func (l *lowest) offer(slot uint32, limit int) (full bool) {
	if len(l.slots) < limit {
		heap.Push(l, slot)
		return false
	}
	if bytes.Compare(l.table.key(slot), l.table.key(l.slots[0])) < 0 {
		l.slots[0] = slot
		heap.Fix(l, 0)
	}
	return true
}

// Len, Less, Swap, Push and Pop are for [heap.Interface].
func (l *lowest) Len() int { return len(l.slots) }

func (l *lowest) Less(i, j int) bool {
	return bytes.Compare(l.table.key(l.slots[i]), l.table.key(l.slots[j])) > 0
}

func (l *lowest) Swap(i, j int) { l.slots[i], l.slots[j] = l.slots[j], l.slots[i] }

func (l *lowest) Push(slot any) { l.slots = append(l.slots, slot.(uint32)) }

func (l *lowest) Pop() any {
	last := len(l.slots) - 1
	slot := l.slots[last]
	l.slots = l.slots[:last]
	return slot
}
