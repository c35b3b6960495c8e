package fsm

// An index finds numbers (slots, owners) by the hash of a name. It is local to
// the node, in no snapshot, and nothing replicated depends on its order. It
// holds no pointers, and grows and shrinks by parts, so that no command waits
// for all of it to be moved.
type index struct {
	parts [256]part
}

// A part is an open-addressed table. A cell is 0 if it is empty, else the low
// half of a hash, then a number plus 1.
type part struct {
	cells []uint64 // a power of two of them, at most three quarters in use
	n     int
}

const smallestPart = 8

// A search goes through the numbers whose hashes may be the one searched for.
type search struct {
	cells []uint64
	tag   uint32 // low half of the hash
	at    uint32 // may be any place modulo their number
}

// search begins a search.
func (x *index) search(hash uint64) search {
	return search{cells: x.parts[hash>>56].cells, tag: uint32(hash), at: uint32(hash)}
}

// next returns the next number to compare by name, if there is one more.
func (s *search) next() (uint32, bool) {
	mask := uint32(len(s.cells) - 1)
	for len(s.cells) > 0 {
		cell := s.cells[s.at&mask]
		s.at++
		if cell == 0 {
			break
		}
		if uint32(cell>>32) == s.tag {
			return uint32(cell) - 1, true
		}
	}
	return 0, false
}

// insert adds a number that is not there.
func (x *index) insert(hash uint64, number uint32) {
	p := &x.parts[hash>>56]
	if (p.n+1)*4 > len(p.cells)*3 {
		p.resize(max(smallestPart, 2*len(p.cells)))
	}
	p.n++
	p.put(hash<<32 | uint64(number+1))
}

// remove takes a number out and reports whether it was there.
func (x *index) remove(hash uint64, number uint32) bool {
	p := &x.parts[hash>>56]
	if p.n == 0 {
		return false
	}
	mask := uint32(len(p.cells) - 1)
	for at := uint32(hash) & mask; p.cells[at] != 0; at = (at + 1) & mask {
		if p.cells[at] == hash<<32|uint64(number+1) {
			p.clear(at)
			p.n--
			if p.n*8 < len(p.cells) && len(p.cells) > smallestPart {
				p.resize(len(p.cells) / 2)
			}
			return true
		}
	}
	return false
}

func (p *part) put(cell uint64) {
	mask := uint32(len(p.cells) - 1)
	at := uint32(cell>>32) & mask
	for p.cells[at] != 0 {
		at = (at + 1) & mask
	}
	p.cells[at] = cell
}

// clear empties a cell and moves those behind it up, so that none of them is
// cut off from where its search begins.
func (p *part) clear(gap uint32) {
	mask := uint32(len(p.cells) - 1)
	for at := (gap + 1) & mask; p.cells[at] != 0; at = (at + 1) & mask {
		home := uint32(p.cells[at]>>32) & mask
		if (at-home)&mask >= (at-gap)&mask {
			p.cells[gap] = p.cells[at]
			gap = at
		}
	}
	p.cells[gap] = 0
}

func (p *part) resize(size int) {
	old := p.cells
	p.cells = make([]uint64, size)
	for _, cell := range old {
		if cell != 0 {
			p.put(cell)
		}
	}
}
