package fsm

import "testing"

// TestChecksumSeesEverything changes one thing of a state at a time: a node
// whose state differs in nothing else is found out.
func TestChecksumSeesEverything(t *testing.T) {
	slot, _ := newBusyState(t).find([]byte("tenant-1"))
	other, _ := newBusyState(t).find([]byte("tenant-3"))
	for what, change := range map[string]func(*State){
		"cluster id":      func(s *State) { s.clusterID = "c2" },
		"largest ttl":     func(s *State) { s.largest++ },
		"index":           func(s *State) { s.index++ },
		"tenures so far":  func(s *State) { s.serials++ },
		"floor":           func(s *State) { s.floor++ },
		"base":            func(s *State) { s.base++ },
		"marker":          func(s *State) { s.marked = !s.marked },
		"window":          func(s *State) { s.window++ },
		"frozen":          func(s *State) { s.frozen = !s.frozen },
		"key":             func(s *State) { s.row(slot).short[0]++ },
		"request id":      func(s *State) { s.id(slot)[0]++ },
		"owner":           func(s *State) { s.row(slot).owner = s.row(slot).owner ^ 1 },
		"epoch":           func(s *State) { s.row(slot).epoch++ },
		"forgotten epoch": func(s *State) { s.row(slot).forgotten++ },
		"serial":          func(s *State) { s.row(slot).serial++ },
		"grant index":     func(s *State) { s.pages[0].hot[slot]++ },
		"ttl":             func(s *State) { s.row(slot).ttl++ },
		"released":        func(s *State) { s.pages[0].hot[slot] = 0 },
		"swapped grants":  func(s *State) { h := s.pages[0].hot; h[slot], h[other] = h[other]+1, h[slot] },
		"swapped slots":   func(s *State) { r := s.pages[0].rows; r[slot], r[other] = r[other], r[slot] },
		"exchanged epochs": func(s *State) {
			r := s.pages[0].rows
			r[slot].epochs, r[other].epochs = r[other].epochs, r[slot].epochs
		},
	} {
		s := newBusyState(t)
		before := recount(s) + s.globals.term()
		if before != s.Checksum() {
			t.Fatalf("counted %x, kept %x", before, s.Checksum())
		}
		change(s)
		if recount(s)+s.globals.term() == before {
			t.Errorf("a different %s is not seen", what)
		}
	}
}

// recount adds up the terms of all records.
func recount(s *State) (sum uint64) {
	for slot := range s.Slots() {
		if s.inUse(slot) {
			sum += s.coldTerm(slot) + grantTerm(slot, s.grant(slot))
		}
	}
	return sum
}
