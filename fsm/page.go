package fsm

// pageSize is how many records a page holds.
const pageSize = 256

// A page holds the records of pageSize neighbouring slots in two parts, each
// copied on write on its own. Both are nil if all its slots are free.
//
// A part is stamped with the generation of the state that made it. Taking a
// snapshot raises the generation, and the state writes only to parts of its
// present one: what a snapshot holds never changes again, and nobody needs to
// know how long it is held.
type page struct {
	hot  *hotPage
	cold *coldPage
}

// A hotPage is what a renewal changes. A grant index of 0 says that no tenure
// stands.
type hotPage struct {
	generation uint64
	grant      [pageSize]uint64
	ttl        [pageSize]uint32 // milliseconds
}

// A coldPage is what changes from tenure to tenure.
type coldPage struct {
	generation uint64
	rows       [pageSize]row
	text       []byte // the rows' keys and request ids
	dead       int    // bytes of text that no row uses
}

// A row is a record without what is in the hotPage. It names the last tenure
// also when that is over. A row without a key is free.
type row struct {
	epoch     uint64
	forgotten uint64 // at most epoch
	serial    uint64 // of the tenure's Number
	owner     uint32 // in owners
	at        uint32 // where in the text the key starts; the request id follows it
	keyLen    uint16
	idLen     uint8
}

// copy returns what a state of the given generation may write to.
func (h *hotPage) copy(generation uint64) *hotPage {
	c := new(hotPage)
	*c = *h
	c.generation = generation
	return c
}

// copy returns what a state of the given generation may write to.
func (c *coldPage) copy(generation uint64) *coldPage {
	d := new(coldPage)
	*d = *c
	d.generation = generation
	d.compact()
	return d
}

func (c *coldPage) key(i uint32) []byte {
	r := &c.rows[i]
	return c.text[r.at : r.at+uint32(r.keyLen)]
}

func (c *coldPage) id(i uint32) []byte {
	r := &c.rows[i]
	from := r.at + uint32(r.keyLen)
	return c.text[from : from+uint32(r.idLen)]
}

// write sets the key and request id of a row.
func (c *coldPage) write(i uint32, key, id []byte) {
	r := &c.rows[i]
	if int(r.keyLen) == len(key) && int(r.idLen) == len(id) {
		copy(c.text[r.at:], key)
		copy(c.text[r.at+uint32(r.keyLen):], id)
		return
	}
	c.erase(i)
	c.reserve(len(key) + len(id))
	r.at, r.keyLen, r.idLen = uint32(len(c.text)), uint16(len(key)), uint8(len(id))
	c.text = append(append(c.text, key...), id...)
}

// erase leaves a row without key and request id.
func (c *coldPage) erase(i uint32) {
	r := &c.rows[i]
	c.dead += int(r.keyLen) + int(r.idLen)
	r.at, r.keyLen, r.idLen = 0, 0, 0
}

// reserve makes room for n more bytes of text. It grows the text by less than
// append would, as its spare room counts in the memory of each record.
func (c *coldPage) reserve(n int) {
	if cap(c.text)-len(c.text) >= n {
		return
	}
	if c.dead > len(c.text)/4 {
		c.compact()
	}
	if cap(c.text)-len(c.text) < n {
		c.text = append(make([]byte, 0, len(c.text)+max(n, 512, len(c.text)/8)), c.text...)
	}
}

// compact moves the text to an array of its own, without what no row uses.
func (c *coldPage) compact() {
	text := make([]byte, 0, len(c.text)-c.dead+256)
	for i := range c.rows {
		r := &c.rows[i]
		from := r.at
		r.at = uint32(len(text))
		text = append(text, c.text[from:from+uint32(r.keyLen)+uint32(r.idLen)]...)
	}
	c.text, c.dead = text, 0
}
