package fsm

// at returns the page and the row of a slot, nil if it is free.
func (t *table) at(slot uint32) (*page, *row) {
	p, i := slot/pageSize, slot%pageSize
	if int(p) >= len(t.pages) || t.pages[p].rows == nil || t.pages[p].rows[i].keyLen == 0 {
		return nil, nil
	}
	return &t.pages[p], &t.pages[p].rows[i]
}

// row returns the row of a slot that is in use.
func (t *table) row(slot uint32) *row { return &t.pages[slot/pageSize].rows[slot%pageSize] }

// held reports whether the tenure of a slot that is in use stands.
func (t *table) held(slot uint32) bool { return t.pages[slot/pageSize].hot[slot%pageSize] != 0 }

// grant returns the grant of a slot that is in use.
func (t *table) grant(slot uint32) grant {
	p := &t.pages[slot/pageSize]
	if index := p.hot[slot%pageSize]; index != 0 {
		return grant{index: index, ttl: p.rows[slot%pageSize].ttl}
	}
	return grant{}
}

// key returns the key of a slot that is in use.
func (t *table) key(slot uint32) []byte { return t.pages[slot/pageSize].key(slot % pageSize) }

// id returns the request id of a slot that is in use.
func (t *table) id(slot uint32) []byte { return t.pages[slot/pageSize].id(slot % pageSize) }

// madeBy reports whether the owner's request made the present or last tenure
// of a slot that is in use.
func (s *State) madeBy(slot uint32, owner, id []byte) bool {
	return string(s.id(slot)) == string(id) && s.ownedBy(slot, owner)
}

// ownedBy reports whether the present or last tenure of a slot that is in use
// is the owner's.
func (s *State) ownedBy(slot uint32, owner []byte) bool {
	return s.owners.name(s.row(slot).owner) == string(owner)
}

// find returns the slot of a key.
func (s *State) find(key []byte) (uint32, bool) {
	for search := s.keys.search(hash(s.seed, key)); ; {
		slot, ok := search.next()
		if !ok || string(s.key(slot)) == string(key) {
			return slot, ok
		}
	}
}

// create puts a record into a slot that was just taken.
func (s *State) create(slot uint32, t texts, e epochs, g grant) {
	for len(s.pages) < s.slots.pages() {
		s.pages = append(s.pages, page{})
	}
	if p := &s.pages[slot/pageSize]; p.rows == nil {
		*p = page{
			hot: new([pageSize]uint64), hotSince: s.generation,
			rows: new([pageSize]row), coldSince: s.generation,
		}
	}
	s.keys.insert(hash(s.seed, t.key), slot)
	s.records++
	s.fill(slot, t, e)
	s.setGrant(slot, g)
}

// replace puts another tenure of its key into a slot that is in use.
func (s *State) replace(slot uint32, t texts, e epochs, g grant) {
	old := s.row(slot).owner
	s.sum -= s.coldTerm(slot)
	s.fill(slot, t, e)
	s.leave(old)
	s.setGrant(slot, g)
}

// fill writes the row of a slot whose old row, if any, counts no more.
func (s *State) fill(slot uint32, t texts, e epochs) {
	p := &s.pages[slot/pageSize]
	p.writableCold(s.generation)
	p.name(slot%pageSize, t.key, t.id)
	r := &p.rows[slot%pageSize]
	r.owner = s.owners.enter(t.owner)
	r.epochs = e
	s.sum += s.coldTerm(slot)
}

// leave takes back the owner of a row that names it no more.
func (s *State) leave(owner uint32) {
	if !s.owners.leave(owner) {
		s.violated("owner %d is not in the index of owners", owner)
	}
}

// setForgotten sets the forgotten epoch of a slot that is in use.
func (s *State) setForgotten(slot uint32, epoch uint64) {
	s.sum -= s.coldTerm(slot)
	s.pages[slot/pageSize].writableCold(s.generation)
	s.row(slot).forgotten = epoch
	s.sum += s.coldTerm(slot)
}

// setGrant sets the grant of a slot that is in use. Few renewals change the TTL,
// so few write to the cold part.
func (s *State) setGrant(slot uint32, to grant) {
	old := s.grant(slot)
	s.holding += int(bit(to != grant{})) - int(bit(old != grant{}))
	s.sum += grantTerm(slot, to) - grantTerm(slot, old)
	p := &s.pages[slot/pageSize]
	p.writableHot(s.generation)
	p.hot[slot%pageSize] = to.index
	if to.index != 0 && p.rows[slot%pageSize].ttl != to.ttl {
		p.writableCold(s.generation)
		p.rows[slot%pageSize].ttl = to.ttl
	}
}

// drop removes the record of a slot that is in use and free, and frees the
// slot.
func (s *State) drop(slot uint32) {
	s.sum -= s.coldTerm(slot)
	if s.held(slot) || !s.keys.remove(hash(s.seed, s.key(slot)), slot) {
		s.violated("record %q at slot %d is held or not in the index of keys when it is dropped", s.key(slot), slot)
	}
	s.leave(s.row(slot).owner)
	p := &s.pages[slot/pageSize]
	p.writableCold(s.generation)
	p.unname(slot % pageSize)
	p.rows[slot%pageSize] = row{}
	s.records--
	if s.slots.give(slot) {
		*p = page{}
	}
	s.pages = s.pages[:s.slots.pages()]
}
