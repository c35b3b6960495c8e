package fsm

import (
	"bytes"
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
	lowest := lowest{table: &s.table, limit: limit}
	p, after := []byte(prefix), []byte(cursor)
	for slot := range s.Slots() {
		_, r := s.at(slot)
		if r == nil || !bytes.HasPrefix(s.key(slot), p) || bytes.Compare(s.key(slot), after) <= 0 {
			continue
		}
		if owner == "" || s.held(slot) && s.owners.name(r.owner) == owner {
			lowest.offer(slot)
		}
	}
	for _, slot := range lowest.sorted() {
		page = append(page, s.describe(slot, string(s.key(slot))))
	}
	if lowest.offered > limit {
		next = page[limit-1].Record.Key
	}
	return page, next
}

// A lowest finds the slots with the lowest keys, at most limit of them.
type lowest struct {
	table   *table
	limit   int
	offered int
	slots   []uint32 // the lowest so far, and some
	bound   []byte   // no higher key is among them; nil as long as any may be
}

func (l *lowest) offer(slot uint32) {
	l.offered++
	if l.bound != nil && bytes.Compare(l.table.key(slot), l.bound) > 0 {
		return
	}
	l.slots = append(l.slots, slot)
	if len(l.slots) == 2*l.limit {
		l.slots = l.sorted()
		l.bound = l.table.key(l.slots[l.limit-1])
	}
}

func (l *lowest) sorted() []uint32 {
	slices.SortFunc(l.slots, func(a, b uint32) int { return bytes.Compare(l.table.key(a), l.table.key(b)) })
	return l.slots[:min(len(l.slots), l.limit)]
}
