package fsm

// translateAhead is how many keys Translate looks up at once.
const translateAhead = 256

// Translate gives every renewal, release and forget that names a tenure which
// stands by key, owner and epoch its number. The others are left as they are: a
// number is no way to find out that a tenure is over.
//
// A look-up waits for memory most of its time: for the key's place in the index
// and then for the record. Translate touches those of many keys before it looks
// any of them up, so that the processor waits for many at a time.
func (s *State) Translate(commands []Command) {
	for len(commands) > 0 {
		n := min(len(commands), translateAhead)
		s.translate(commands[:n])
		commands = commands[n:]
	}
}

func (s *State) translate(commands []Command) {
	var hashes [translateAhead]uint64
	for i := range commands {
		hashes[i] = hash(s.seed, commands[i].Key)
	}
	s.touch(hashes[:len(commands)])
	for i := range commands {
		c := &commands[i]
		if c.Epoch == 0 || c.Kind != Renew && c.Kind != Release && c.Kind != Forget {
			continue
		}
		if n, ok := s.numberOf(hashes[i], c.Key, c.Owner, c.Epoch); ok {
			c.Number = n
		}
	}
}

// touch reads a little of what looking up each hash will read. The loads of one
// loop don't depend on each other. What it returns means nothing, but keeps the
// compiler from leaving them out.
//
//go:noinline
func (s *State) touch(hashes []uint64) (touched uint64) {
	for _, h := range hashes {
		if cells := s.keys.parts[h>>56].cells; len(cells) > 0 {
			touched += cells[uint32(h)&uint32(len(cells)-1)]
		}
	}
	for _, h := range hashes {
		search := s.keys.search(h)
		if slot, ok := search.next(); ok {
			touched += s.glance(slot)
		}
	}
	return touched
}

// glance reads a little of a slot, if there is such a slot.
func (t *table) glance(slot uint32) uint64 {
	p, i := slot/pageSize, slot%pageSize
	if int(p) >= len(t.pages) || t.pages[p].rows == nil {
		return 0
	}
	return t.pages[p].hot[i] + t.pages[p].rows[i].serial
}
