package fsm

import "time"

// A Lookup is what stands for a key.
type Lookup struct {
	// Record of the key. For a key without one it tells what the next tenure
	// will start from: Epoch is what its epoch will be above, ForgottenAtEpoch
	// the forgotten floor.
	Record     Record
	Known      bool          // the key has a record
	Number     Number        // of the tenure that stands, zero if none does
	GrantIndex uint64        // of the tenure that stands, 0 if none does
	TTL        time.Duration // of the tenure that stands, 0 if none does
}

// Lookup returns what stands for a key. It allocates nothing: the key's string
// is the given one, and owners' are shared.
func (s *State) Lookup(key string) Lookup {
	slot, known := s.lookup(key)
	if !known {
		return Lookup{Record: s.unknown(key)}
	}
	return s.describe(slot, key)
}

// numberOf returns the number of the tenure that stands for a key, owner and
// epoch. It allocates nothing.
func (s *State) numberOf(hashed uint64, key, owner string, epoch uint64) (Number, bool) {
	slot, known := s.lookupHashed(hashed, key)
	if !known || !s.held(slot) {
		return Number{}, false
	}
	t := s.row(slot)
	if t.epoch != epoch || s.owners.name(t.owner) != owner {
		return Number{}, false
	}
	return s.number(slot), true
}

// IsRequest reports whether the owner's request made the key's present or last
// tenure, and whether that is over.
func (s *State) IsRequest(key, owner, requestID string) (present, last bool) {
	slot, known := s.lookup(key)
	if !known || string(s.id(slot)) != requestID || s.owners.name(s.row(slot).owner) != owner {
		return false, false
	}
	held := s.held(slot)
	return held, !held
}

// Tenure returns what stands for the key of a tenure that stands, by its
// number.
func (s *State) Tenure(n Number) (Lookup, bool) {
	_, t := s.at(n.Slot)
	if t == nil || t.serial != n.Serial || !s.held(n.Slot) {
		return Lookup{}, false
	}
	return s.describe(n.Slot, string(s.key(n.Slot))), true
}

// Each calls f for each record, in order of their slots, until it returns
// false.
func (s *State) Each(f func(Lookup) bool) {
	for slot := range s.Slots() {
		if _, t := s.at(slot); t != nil && !f(s.describe(slot, string(s.key(slot)))) {
			return
		}
	}
}

// lookup is find for a string, without a copy of it.
func (s *State) lookup(key string) (uint32, bool) { return s.lookupHashed(hash(s.seed, key), key) }

// lookupHashed is lookup for a key whose hash is known.
func (s *State) lookupHashed(hashed uint64, key string) (uint32, bool) {
	for search := s.keys.search(hashed); ; {
		slot, ok := search.next()
		if !ok || string(s.key(slot)) == key {
			return slot, ok
		}
	}
}

// describe returns what stands in a slot that is in use.
func (s *State) describe(slot uint32, key string) Lookup {
	t := s.row(slot)
	l := Lookup{
		Record: Record{Key: key, Owner: s.owners.name(t.owner), Epoch: t.epoch, ForgottenAtEpoch: t.forgotten},
		Known:  true,
	}
	if g := s.grant(slot); g.index != 0 {
		l.Record.Held = true
		l.Number = s.number(slot)
		l.GrantIndex, l.TTL = g.index, g.duration()
	}
	return l
}
