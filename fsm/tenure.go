package fsm

import "time"

// renew applies a renewal.
func (s *State) renew(c *item, r *Result) {
	if !s.validTTL(c.ttl) {
		r.Code, r.Reason = Invalid, s.invalidTTL(c.ttl)
		return
	}
	if slot, ok := s.standing(c, r); ok {
		s.extend(slot, c.ttl, r)
	}
}

// extend gives the tenure that stands in a slot a new grant. Its TTL never
// shrinks: the holder may still rely on the longer one.
func (s *State) extend(slot uint32, ttl time.Duration, r *Result) {
	g := grant{index: s.index, ttl: max(s.grant(slot).ttl, milliseconds(ttl))}
	s.setGrant(slot, g)
	t := s.row(slot)
	r.Code, r.Number = Renewed, Number{Slot: slot, Serial: t.serial}
	r.Record.Epoch, r.Record.ForgottenAtEpoch, r.Record.Held = t.epoch, t.forgotten, true
	r.TTL, r.GrantIndex = g.duration(), g.index
}

// release applies a release, and drops a record that has nothing to keep.
func (s *State) release(c *item, r *Result) {
	slot, ok := s.standing(c, r)
	if !ok {
		return
	}
	s.setGrant(slot, grant{})
	r.Code, r.Number = Released, s.number(slot)
	s.report(slot, r)
	if !s.frozen {
		s.settle(slot)
	}
}

// settle drops the record of a free slot if all that it knows is forgotten:
// the floor then says the same of the key.
func (s *State) settle(slot uint32) {
	t := s.row(slot)
	if t.forgotten != t.epoch {
		return
	}
	s.floor = max(s.floor, t.epoch)
	s.drop(slot)
}

// forget applies a forget.
func (s *State) forget(c *item, r *Result) {
	slot, ok := s.standing(c, r)
	if !ok {
		return
	}
	t := s.row(slot)
	if t.forgotten > t.epoch {
		s.violated("record %q is forgotten up to epoch %d, above its epoch %d", s.key(slot), t.forgotten, t.epoch)
	}
	r.Repeated = t.forgotten == t.epoch
	s.setForgotten(slot, t.epoch)
	r.Code, r.Number = Forgotten, s.number(slot)
	s.report(slot, r)
}

// standing returns the slot of the tenure that a command names, if it stands;
// else it fills in the refusal.
func (s *State) standing(c *item, r *Result) (uint32, bool) {
	if c.number != (Number{}) {
		return s.standingNumber(c.number, r)
	}
	slot, known := s.find(c.key)
	if known && s.held(slot) && s.named(slot, c) {
		return slot, true
	}
	if r.Reason = invalidTenure(c); r.Reason != "" {
		r.Code = Invalid
		return 0, false
	}
	r.Code = Lost
	if known {
		s.report(slot, r)
	} else {
		r.Record = s.unknown(string(c.key))
	}
	return 0, false
}

// named reports whether the command names the owner and the epoch or the
// request of a slot that is in use.
func (s *State) named(slot uint32, c *item) bool {
	if c.epoch != 0 {
		return s.row(slot).epoch == c.epoch && s.ownedBy(slot, c.owner)
	}
	return len(c.id) > 0 && s.madeBy(slot, c.owner, c.id)
}

// standingNumber is standing for a command that names a tenure by its number.
func (s *State) standingNumber(n Number, r *Result) (uint32, bool) {
	_, t := s.at(n.Slot)
	known := t != nil && t.serial == n.Serial
	if known && s.held(n.Slot) {
		return n.Slot, true
	}
	r.Code = Lost
	if known {
		s.report(n.Slot, r)
	}
	return 0, false
}

func milliseconds(ttl time.Duration) uint32 { return uint32(ttl / time.Millisecond) }
