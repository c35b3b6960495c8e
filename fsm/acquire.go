package fsm

import (
	"fmt"

	"example.com/tenure"
)

// acquire applies an acquire. The order of its cases is the rule.
func (s *State) acquire(c *item, r *Result) {
	if r.Reason = s.invalidAcquire(c); r.Reason != "" {
		r.Code = Invalid
		return
	}
	slot, known := s.find(c.key)
	held := known && s.held(slot)
	switch {
	case held && s.madeBy(slot, c.owner, c.id):
		s.extend(slot, c.ttl, r)
	case known && s.madeBy(slot, c.owner, c.id):
		s.refuse(slot, Lost, r)
	case s.marked && c.evidence.Marker != s.base:
		s.refuseMarked(slot, known, c.key, r)
	case held && !s.proves(slot, c.evidence):
		s.refuse(slot, Held, r)
	case known:
		s.succeed(slot, c, r)
	default:
		s.start(c, r)
	}
}

// proves reports whether the evidence names exactly what stands in a held slot.
func (s *State) proves(slot uint32, e Evidence) bool {
	return s.row(slot).epoch == e.Epoch && s.grant(slot).index == e.GrantIndex
}

// succeed gives a key with a record, free or taken over, to another tenure.
func (s *State) succeed(slot uint32, c *item, r *Result) {
	old := *s.row(slot)
	epoch := max(old.epoch, s.base) + 1
	if epoch > tenure.MaxEpoch {
		r.Code, r.Reason = Invalid, epochsUsedUp
		return
	}
	if s.held(slot) {
		r.Previous = Previous{Owner: s.owners.name(old.owner), Epoch: old.epoch}
	}
	s.serials++
	s.replace(slot, c.texts, epochs{epoch: epoch, forgotten: old.forgotten, serial: s.serials}, s.granted(c))
	s.admit(slot, c, r)
}

// start gives a key without a record its first tenure.
func (s *State) start(c *item, r *Result) {
	epoch := max(s.floor, s.base) + 1
	switch {
	case epoch > tenure.MaxEpoch:
		r.Code, r.Reason = Invalid, epochsUsedUp
		return
	case s.records == MaxRecords:
		r.Code, r.Reason = Invalid, recordsUsedUp
		return
	}
	slot := s.slots.take()
	s.serials++
	s.create(slot, c.texts, epochs{epoch: epoch, forgotten: s.floor, serial: s.serials}, s.granted(c))
	s.admit(slot, c, r)
}

// granted returns the first grant of a tenure.
func (s *State) granted(c *item) grant {
	return grant{index: s.index, ttl: milliseconds(c.ttl)}
}

// admit reports the tenure that has begun.
func (s *State) admit(slot uint32, c *item, r *Result) {
	if c.evidence.Marker != 0 {
		s.marked = false // it stood and was named, or was cleared before
	}
	r.Code, r.Number = Granted, s.number(slot)
	s.report(slot, r)
}

// refuseMarked refuses because of the restore marker: the key is held by a
// tenure that nobody here knows.
func (s *State) refuseMarked(slot uint32, known bool, key []byte, r *Result) {
	r.Code = Held
	if known {
		s.report(slot, r)
	} else {
		r.Record = s.unknown(string(key))
	}
	r.Record.Owner, r.Record.Held = "", true
}

func (s *State) refuse(slot uint32, code Code, r *Result) {
	r.Code = code
	s.report(slot, r)
}

// report fills in what stands in a slot that is in use.
func (s *State) report(slot uint32, r *Result) {
	t, g := s.row(slot), s.grant(slot)
	r.GrantIndex, r.TTL = g.index, g.duration()
	r.Record = Record{
		Key:              string(s.key(slot)),
		Owner:            s.owners.name(t.owner),
		Epoch:            t.epoch,
		ForgottenAtEpoch: t.forgotten,
		Held:             r.GrantIndex != 0,
	}
}

// number returns the number of the present or last tenure of a slot that is in
// use.
func (s *State) number(slot uint32) Number {
	return Number{Slot: slot, Serial: s.row(slot).serial}
}

// unknown returns what stands for a key without a record.
func (s *State) unknown(key string) Record {
	return Record{Key: key, Epoch: max(s.floor, s.base), ForgottenAtEpoch: s.floor}
}

const epochsUsedUp = "invalid epoch: the next one must be at most 9223372036854775807"

var recordsUsedUp = fmt.Sprintf("invalid key: it has no record, and the cluster can't have more than %d", MaxRecords)
