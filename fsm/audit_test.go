package fsm

import "bytes"

// The test helpers here look at a state from the inside: what it keeps up to
// date command by command must equal what is counted anew.

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// audit counts a state anew and compares, and sends it through a snapshot.
func audit(t failer, s *State) {
	t.Helper()
	if s.fault != nil {
		t.Fatalf("the state is unusable: %v", s.fault)
	}
	auditRecords(t, s)
	auditOwners(t, s)
	auditSnapshot(t, s)
}

func auditRecords(t failer, s *State) {
	t.Helper()
	var sum uint64
	count, held := 0, 0
	for slot := range s.Slots() {
		if used := s.slots.used[slot/pageSize][slot%pageSize/64]>>(slot%64)&1 == 1; used != (s.inUse(slot)) {
			t.Fatalf("slot %d: marked as used is %v, has a record is %v", slot, used, s.inUse(slot))
		}
		if !s.inUse(slot) {
			continue
		}
		count++
		if s.held(slot) {
			held++
		}
		sum += s.coldTerm(slot) + grantTerm(slot, s.grant(slot))
		if found, ok := s.find(s.key(slot)); !ok || found != slot {
			t.Fatalf("key %q of slot %d is found at %d, %v", s.key(slot), slot, found, ok)
		}
		if r := s.row(slot); r.forgotten > r.epoch || r.serial > s.serials || s.grant(slot).index > s.index {
			t.Fatalf("record %+v with grant index %d contradicts %+v", r, s.grant(slot).index, s.globals)
		}
	}
	if count != s.records || held != s.holding || sum != s.sum {
		t.Fatalf("counted %d records, %d held, sum %x; the state has %d, %d, %x", count, held, sum, s.records, s.holding, s.sum)
	}
	if n := len(s.pages); n != s.slots.pages() || n > 0 && s.pages[n-1].rows == nil {
		t.Fatalf("%d pages for slots in %d, the last is %v", n, s.slots.pages(), s.pages[n-1].rows)
	}
}

func (s *State) inUse(slot uint32) bool {
	_, r := s.at(slot)
	return r != nil
}

func auditOwners(t failer, s *State) {
	t.Helper()
	named := map[uint32]uint32{}
	for slot := range s.Slots() {
		if s.inUse(slot) {
			named[s.row(slot).owner]++
		}
	}
	for owner, records := range s.owners.records {
		if named[uint32(owner)] != records {
			t.Fatalf("owner %d is named by %d records, counted are %d", owner, named[uint32(owner)], records)
		}
	}
}

// auditSnapshot restores a snapshot of the state and compares.
func auditSnapshot(t failer, s *State) {
	t.Helper()
	written := snapshotBytes(t, s)
	restored, err := Restore(bytes.NewReader(written))
	if err != nil {
		t.Fatalf("restore: %v", err)
	}
	if restored.Checksum() != s.Checksum() {
		t.Fatalf("restored checksum %x, want %x", restored.Checksum(), s.Checksum())
	}
	if !bytes.Equal(snapshotBytes(t, restored), written) {
		t.Fatalf("the snapshot of the restored state differs")
	}
}

func snapshotBytes(t failer, s *State) []byte {
	t.Helper()
	var buffer bytes.Buffer
	sn := s.Snapshot()
	defer sn.Release()
	if n, err := sn.WriteTo(&buffer); err != nil || n != int64(buffer.Len()) {
		t.Fatalf("wrote %d of %d bytes: %v", n, buffer.Len(), err)
	}
	return buffer.Bytes()
}
