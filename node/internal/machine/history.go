package machine

// history remembers the checksums of the state at the newest applied entries,
// so that nodes which are not at the same index can compare one that both had.
type history struct {
	marks [historyMarks]mark
	count uint64 // of all marks ever added
}

// historyMarks bounds how far apart two nodes may be and still compare.
const historyMarks = 4096

// A mark is the checksum of the state after the entry at index.
type mark struct{ index, checksum uint64 }

func (h *history) add(index, checksum uint64) {
	h.marks[h.count%historyMarks] = mark{index, checksum}
	h.count++
}

// at finds the checksum at index by bisection: indexes only rise.
func (h *history) at(index uint64) (uint64, bool) {
	oldest := h.count - min(h.count, historyMarks)
	low, high := oldest, h.count
	for low < high {
		middle := low + (high-low)/2
		if m := h.marks[middle%historyMarks]; m.index == index {
			return m.checksum, true
		} else if m.index < index {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return 0, false
}

// ChecksumAt returns the checksum that the state had after the entry at index;
// false if that is not known any more, or not yet, or index is no command's.
func (m *Machine) ChecksumAt(index uint64) (uint64, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.history.at(index)
}

// Checksum returns the index of the newest applied entry and the checksum of
// the state after it.
func (m *Machine) Checksum() (index, checksum uint64) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.applied, m.state.Checksum()
}
