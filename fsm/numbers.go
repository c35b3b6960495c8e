package fsm

import "encoding/binary"

// A stretch is how numbers are written: as many as follow each other with slot
// and serial both one higher, which is how a batch of acquires got them. It is
//
//	slot less that of the number before, zigzag, times 2, plus 1 if more follow
//	serial less that of the number before, zigzag
//	[how many follow, less 1]
//
// where the number before the first of a run is the zero one.
type stretch struct {
	first Number
	more  uint64 // numbers after the first
}

// end returns the last number.
func (s stretch) end() Number {
	return Number{Slot: s.first.Slot + uint32(s.more), Serial: s.first.Serial + s.more}
}

// follows reports whether n would have been part of the stretch.
func (s stretch) follows(n Number) bool {
	end := s.end()
	return n.Slot == end.Slot+1 && n.Serial == end.Serial+1 && n.Slot != 0 && n.Serial != 0
}

func appendNumbers(out []byte, run []Command) []byte {
	var before Number
	for i := 0; i < len(run); {
		s := stretch{first: run[i].Number}
		for i++; i < len(run) && s.follows(run[i].Number); i++ {
			s.more++
		}
		out = appendStretch(out, before, s)
		before = s.end()
	}
	return out
}

func appendStretch(out []byte, before Number, s stretch) []byte {
	slot := zigzag(int64(s.first.Slot)-int64(before.Slot)) << 1
	if s.more > 0 {
		slot |= 1
	}
	out = binary.AppendUvarint(out, slot)
	out = binary.AppendVarint(out, int64(s.first.Serial-before.Serial))
	if s.more > 0 {
		out = binary.AppendUvarint(out, s.more-1)
	}
	return out
}

// stretch reads the next stretch of a run with so many numbers left. before is
// the stretch before it, nil at the start of the run.
func (r *reading) stretch(before *stretch, left uint64) stretch {
	var last Number
	if before != nil {
		last = before.end()
	}
	head := r.uvarint()
	slot := int64(last.Slot) + unzigzag(head>>1)
	s := stretch{first: Number{Slot: uint32(slot), Serial: last.Serial + uint64(unzigzag(r.uvarint()))}}
	if head&1 != 0 {
		s.more = r.uvarint() + 1
	}
	switch {
	case slot < 0 || slot >= 1<<32:
		r.fail("a slot out of range")
	case s.first.Serial == 0:
		r.fail("a number without a serial")
	case s.more >= left:
		r.fail("more numbers than the run has")
	case uint64(slot)+s.more >= 1<<32 || s.first.Serial+s.more < s.first.Serial:
		r.fail("numbers that overflow")
	case before != nil && before.follows(s.first):
		r.fail("a stretch of numbers in two parts")
	}
	return s
}

func zigzag(n int64) uint64   { return uint64(n<<1) ^ uint64(n>>63) }
func unzigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }
