package fsm

import "math/bits"

// A slots hands out numbers from 0, always the lowest free one. Which numbers
// are used is all there is to it: the next one doesn't depend on the order in
// which others came and went, so it need not be in a snapshot.
type slots struct {
	used [][pageSize / 64]uint64 // a bit for each number, by pages
	open []uint64                // a bit for each page with a free number
}

// take uses the lowest free number and returns it.
func (s *slots) take() uint32 {
	for w, word := range s.open {
		if word != 0 {
			return s.takeIn(w*64 + bits.TrailingZeros64(word))
		}
	}
	s.grow(len(s.used) + 1)
	return s.takeIn(len(s.used) - 1)
}

func (s *slots) takeIn(page int) uint32 {
	w := 0
	for s.used[page][w] == ^uint64(0) {
		w++ // an open page has a word with a free bit
	}
	slot := uint32(page*pageSize + w*64 + bits.TrailingZeros64(^s.used[page][w]))
	s.mark(slot)
	return slot
}

// takeAt uses the given number, which must be free.
func (s *slots) takeAt(slot uint32) {
	s.grow(int(slot/pageSize) + 1)
	s.mark(slot)
}

// give frees a used number and reports whether its page has become empty.
// Empty pages at the end are let go.
func (s *slots) give(slot uint32) (empty bool) {
	page := int(slot / pageSize)
	s.used[page][slot%pageSize/64] &^= 1 << (slot % 64)
	s.open[page/64] |= 1 << (page % 64)
	empty = s.used[page] == [pageSize / 64]uint64{}
	for n := len(s.used); n > 0 && s.used[n-1] == [pageSize / 64]uint64{}; n-- {
		s.open[(n-1)/64] &^= 1 << ((n - 1) % 64)
		s.used = s.used[:n-1]
	}
	return empty
}

// pages returns how many pages there are up to the last one that is not empty.
func (s *slots) pages() int { return len(s.used) }

func (s *slots) grow(pages int) {
	for len(s.used) < pages {
		page := len(s.used)
		s.used = append(s.used, [pageSize / 64]uint64{})
		if page/64 == len(s.open) {
			s.open = append(s.open, 0)
		}
		s.open[page/64] |= 1 << (page % 64)
	}
}

func (s *slots) mark(slot uint32) {
	page := int(slot / pageSize)
	s.used[page][slot%pageSize/64] |= 1 << (slot % 64)
	full := ^uint64(0)
	if s.used[page] == [pageSize / 64]uint64{full, full, full, full} {
		s.open[page/64] &^= 1 << (page % 64)
	}
}
