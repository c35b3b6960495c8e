package fsm

// cold returns the page and the row's place in it, nil if the slot is free.
func (t *table) cold(slot uint32) (*coldPage, uint32) {
	p, i := slot/pageSize, slot%pageSize
	if int(p) >= len(t.pages) || t.pages[p].cold == nil || t.pages[p].cold.rows[i].keyLen == 0 {
		return nil, 0
	}
	return t.pages[p].cold, i
}

// row returns what stands in a slot that is in use.
func (t *table) row(slot uint32) *row {
	return &t.pages[slot/pageSize].cold.rows[slot%pageSize]
}

// key returns the key of a slot that is in use.
func (t *table) key(slot uint32) []byte {
	return t.pages[slot/pageSize].cold.key(slot % pageSize)
}

// id returns the request id of a slot that is in use.
func (t *table) id(slot uint32) []byte {
	return t.pages[slot/pageSize].cold.id(slot % pageSize)
}

// grant returns the grant index of a slot that is in use, 0 if no tenure stands.
func (t *table) grant(slot uint32) uint64 {
	return t.pages[slot/pageSize].hot.grant[slot%pageSize]
}

// ttl returns the TTL in milliseconds of a slot that is in use, 0 if no tenure
// stands.
func (t *table) ttl(slot uint32) uint32 {
	return t.pages[slot/pageSize].hot.ttl[slot%pageSize]
}

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
	return s.keys.find(s.seed.hash(key), func(slot uint32) bool {
		return string(s.key(slot)) == string(key)
	})
}

// begin writes a new tenure into a record, or one that was restored. The slot
// is the known record's or was just occupied.
func (s *State) begin(slot uint32, known bool, t texts, r row) {
	if known {
		s.sum -= s.coldTerm(slot)
	}
	c, i := s.writableCold(slot), slot%pageSize
	old := c.rows[i].owner
	r.owner = s.owners.enter(t.owner)
	if known && !s.owners.leave(old) {
		s.violated("owner %d of record %q is not known", old, t.key)
	}
	c.write(i, t.key, t.id)
	r.at, r.keyLen, r.idLen = c.rows[i].at, c.rows[i].keyLen, c.rows[i].idLen
	c.rows[i] = r
	s.sum += s.coldTerm(slot)
}

// occupy makes room for a slot that was just taken.
func (s *State) occupy(slot uint32, key []byte) {
	for len(s.pages) < s.slots.pages() {
		s.pages = append(s.pages, page{})
	}
	if p := &s.pages[slot/pageSize]; p.cold == nil {
		p.hot = &hotPage{generation: s.generation}
		p.cold = &coldPage{generation: s.generation}
	}
	s.keys.insert(s.seed.hash(key), slot)
	s.count++
}

// drop removes a record and frees its slot.
func (s *State) drop(slot uint32) {
	s.sum -= s.coldTerm(slot)
	known := s.keys.remove(s.seed.hash(s.key(slot)), slot)
	if !known || !s.owners.leave(s.row(slot).owner) || s.grant(slot) != 0 {
		s.violated("record %q at slot %d is not as it should be when it is dropped", s.key(slot), slot)
	}
	c, i := s.writableCold(slot), slot%pageSize
	c.erase(i)
	c.rows[i] = row{}
	s.count--
	if s.slots.give(slot) {
		s.pages[slot/pageSize] = page{}
	}
	s.pages = s.pages[:s.slots.pages()]
}

// setHot sets grant index and TTL of a slot that is in use.
func (s *State) setHot(slot uint32, grant uint64, ttl uint32) {
	h := s.writableHot(slot)
	i := slot % pageSize
	if h.grant[i] != 0 {
		s.held--
	}
	if grant != 0 {
		s.held++
	}
	s.sum += hotTerm(slot, grant, ttl) - hotTerm(slot, h.grant[i], h.ttl[i])
	h.grant[i], h.ttl[i] = grant, ttl
}

func (s *State) writableHot(slot uint32) *hotPage {
	p := &s.pages[slot/pageSize]
	if p.hot.generation != s.generation {
		p.hot = p.hot.copy(s.generation)
	}
	return p.hot
}

func (s *State) writableCold(slot uint32) *coldPage {
	p := &s.pages[slot/pageSize]
	if p.cold.generation != s.generation {
		p.cold = p.cold.copy(s.generation)
	}
	return p.cold
}
