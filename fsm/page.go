package fsm

import "time"

// pageSize is how many records a page holds.
const pageSize = 256

// A page holds the records of pageSize neighbouring slots in a hot and a cold
// part, each copied on write on its own. It has neither if all its slots are
// free.
//
// A part belongs to the generation of the state that made it. Taking a snapshot
// raises the generation, and a state writes only to parts of its present one:
// what a snapshot holds never changes again, and nobody needs to know for how
// long it is held.
type page struct {
	// The hot part is what a renewal changes: the grant index of the tenure that
	// stands, 0 if none does.
	hot *[pageSize]uint64

	// The cold part is what changes from tenure to tenure.
	rows *[pageSize]row
	text []byte // request ids, and keys that are too long for their row
	dead int    // bytes of text that no row uses

	hotSince, coldSince uint64 // the generations that made the parts
}

// A row is a record without its grant index. It names the last tenure also when
// that is over. A row without a key is free. With its key a row fills one cache
// line, so that a look-up costs few of them.
type row struct {
	epochs
	owner  uint32 // in owners
	at     uint32 // where in the text the row's part starts: a long key, then the request id
	ttl    uint32 // milliseconds; counts only while the tenure stands
	keyLen uint16
	idLen  uint8
	short  [shortKey]byte // the key, if it has room
}

// An epochs is what there is to a tenure besides names and grant.
type epochs struct {
	epoch     uint64
	forgotten uint64 // at most epoch
	serial    uint64 // of the tenure's Number
}

// A grant is the newest one of a tenure that stands; zero if none does.
type grant struct {
	index uint64
	ttl   uint32 // milliseconds
}

func (g grant) duration() time.Duration { return time.Duration(g.ttl) * time.Millisecond }

// shortKey is the length up to which keys are in their rows.
const shortKey = 25

// writableHot makes the hot part one that a state of the generation may write
// to.
func (p *page) writableHot(generation uint64) {
	if p.hotSince != generation {
		hot := *p.hot
		p.hot, p.hotSince = &hot, generation
	}
}

// writableCold makes the cold part one that a state of the generation may write
// to.
func (p *page) writableCold(generation uint64) {
	if p.coldSince != generation {
		rows := *p.rows
		p.rows, p.coldSince = &rows, generation
		p.compact()
	}
}

// key returns the key of a row, which is good until the row is written to.
func (p *page) key(i uint32) []byte {
	r := &p.rows[i]
	if r.keyLen <= shortKey {
		return r.short[:r.keyLen]
	}
	return p.text[r.at : r.at+uint32(r.keyLen)]
}

// id returns the request id of a row, which is good until the row is written
// to.
func (p *page) id(i uint32) []byte {
	r := &p.rows[i]
	end := r.at + r.textLen()
	return p.text[end-uint32(r.idLen) : end]
}

// textLen returns how much of the text is the row's.
func (r *row) textLen() uint32 { return textLen(int(r.keyLen), int(r.idLen)) }

func textLen(key, id int) uint32 {
	if key <= shortKey {
		return uint32(id)
	}
	return uint32(key + id)
}

// name sets the key and the request id of a row.
func (p *page) name(i uint32, key, id []byte) {
	r := &p.rows[i]
	if int(r.keyLen) != len(key) || int(r.idLen) != len(id) {
		p.unname(i)
		r.at = p.reserve(textLen(len(key), len(id)))
		r.keyLen, r.idLen = uint16(len(key)), uint8(len(id))
	}
	at := p.text[r.at:]
	if len(key) > shortKey {
		at = at[copy(at, key):]
	} else {
		copy(r.short[:], key)
	}
	copy(at, id)
}

// unname leaves a row without key and request id.
func (p *page) unname(i uint32) {
	r := &p.rows[i]
	p.dead += int(r.textLen())
	r.at, r.keyLen, r.idLen, r.short = 0, 0, 0, [shortKey]byte{}
}

// reserve makes n more bytes of text and returns where. The text grows by less
// than append would make it, as its spare room counts in the memory of each
// record.
func (p *page) reserve(n uint32) uint32 {
	if cap(p.text)-len(p.text) < int(n) && p.dead > len(p.text)/4 {
		p.compact()
	}
	if cap(p.text)-len(p.text) < int(n) {
		p.text = append(make([]byte, 0, len(p.text)+max(int(n), 512, len(p.text)/8)), p.text...)
	}
	at := len(p.text)
	p.text = p.text[:at+int(n)]
	return uint32(at)
}

// compact moves the text to an array of its own, without what no row uses.
func (p *page) compact() {
	text := make([]byte, 0, len(p.text)-p.dead+256)
	for i := range p.rows {
		r := &p.rows[i]
		from := r.at
		r.at = uint32(len(text))
		text = append(text, p.text[from:from+r.textLen()]...)
	}
	p.text, p.dead = text, 0
}
