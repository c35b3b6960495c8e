package fsm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"time"
)

// texts are the names in a command or a record.
type texts struct{ key, owner, id []byte }

// An item is a [Command] as it is read from an entry. Its texts are part of the
// entry, and it changes with the next one.
type item struct {
	kind Kind
	texts
	epoch    uint64
	ttl      time.Duration
	evidence Evidence
	number   Number
	settings Settings
}

// An items reads the commands of an entry one by one, and allocates nothing
// once it has read a few. The zero items is ready; check comes first.
type items struct {
	item item // the present one

	owners [][]byte
	used   []bool // the owners that a run has named
	rest   reading
	start  reading // where the runs start

	head  head
	left  uint64 // items that the run still has
	part  stretch
	more  uint64 // numbers that the stretch still has
	begun bool   // a stretch of the run was read
	total int
}

// CheckEntry reports an entry whose checksum is wrong, or whose version is
// unknown. It doesn't look at the commands, and allocates nothing if all is
// well: it is for whoever stores entries or passes them on.
func CheckEntry(entry []byte) error {
	body := len(entry) - crc32.Size
	if body < 1 {
		return fmt.Errorf("%w: %d bytes are no entry", ErrChecksum, len(entry))
	}
	stored, sum := binary.LittleEndian.Uint32(entry[body:]), crc32.Checksum(entry[:body], castagnoli)
	if stored != sum {
		return fmt.Errorf("%w: it is %08x, and %08x is stored", ErrChecksum, sum, stored)
	}
	if entry[0] != EntryVersion {
		return fmt.Errorf("%w: entry of version %d, this program knows %d", ErrUnknown, entry[0], EntryVersion)
	}
	return nil
}

// check reads all of an entry and returns how many commands it has.
func (t *items) check(entry []byte) (int, error) {
	if err := CheckEntry(entry); err != nil {
		return 0, err
	}
	t.readOwners(entry[1 : len(entry)-crc32.Size])
	t.rewind()
	for t.next() {
	}
	if t.rest.err == nil && !allTrue(t.used) {
		t.rest.fail("an owner that no command names")
	}
	return t.total, t.rest.err
}

func (t *items) readOwners(body []byte) {
	t.start = reading{rest: body}
	t.owners, t.used = t.owners[:0], t.used[:0]
	for n := t.start.uvarint(); n > 0 && t.start.err == nil; n-- {
		owner := t.start.text()
		if last := len(t.owners) - 1; last >= 0 && bytes.Compare(t.owners[last], owner) >= 0 {
			t.start.fail("owners out of order")
		}
		t.owners, t.used = append(t.owners, owner), append(t.used, false)
	}
}

// rewind goes back to the first command of an entry that was checked.
func (t *items) rewind() {
	t.rest, t.head, t.left, t.total = t.start, head{}, 0, 0
}

// release lets go of the entry.
func (t *items) release() {
	clear(t.owners)
	*t = items{owners: t.owners[:0], used: t.used[:0]}
}

// next reads the next command and reports whether there was one.
func (t *items) next() bool {
	if t.left == 0 {
		if len(t.rest.rest) == 0 {
			return false
		}
		t.readHead()
	}
	t.left--
	t.total++
	if shapes[t.head.form].number {
		t.readNumber()
	} else {
		t.readItem()
	}
	return t.rest.err == nil
}

// readHead reads the head of a run.
func (t *items) readHead() {
	r := &t.rest
	h := head{form: form(r.byte())}
	if h.form == 0 || h.form >= formEnd {
		r.fail("") // what it fails with is replaced
		r.err = fmt.Errorf("%w: command of form %d", ErrUnknown, h.form)
		h.form = changeCluster
	}
	t.left = r.uvarint()
	shape := &shapes[h.form]
	t.item = item{kind: shape.kind}
	if shape.owner {
		h.owner = r.uvarint()
		t.item.owner = t.owner(h.owner)
	}
	if shape.ttl {
		h.ttl = r.uvarint()
		t.item.ttl = r.duration(h.ttl)
	}
	if h.form == acquireMarked {
		h.marker = r.uvarint()
		t.item.evidence.Marker = h.marker
		if h.marker == 0 {
			r.fail("evidence of no marker")
		}
	}
	switch {
	case t.left == 0:
		r.fail("an empty run")
	case t.left > uint64(MaxCommands-t.total):
		r.fail("too many commands")
	case h == t.head:
		r.fail("a run in two parts")
	}
	t.head, t.more, t.begun = h, 0, false
}

func (t *items) owner(at uint64) []byte {
	if at >= uint64(len(t.owners)) {
		t.rest.fail("an owner that is not listed")
		return nil
	}
	t.used[at] = true
	return t.owners[at]
}

func (t *items) readItem() {
	r, c := &t.rest, &t.item
	if t.head.form == changeCluster {
		t.readSettings()
		return
	}
	c.key = r.text()
	switch t.head.form {
	case acquireFree, acquireMarked:
		c.id = r.text()
	case releaseRequest:
		if c.id = r.text(); len(c.id) == 0 {
			r.fail("a release that names no tenure")
		}
	case acquireExpired:
		c.id = r.text()
		c.evidence.Epoch = r.uvarint()
		c.evidence.GrantIndex += uint64(unzigzag(r.uvarint()))
		if c.evidence == (Evidence{}) {
			r.fail("evidence of nothing")
		}
	default:
		c.epoch = r.uvarint()
	}
}

func (t *items) readNumber() {
	if t.more > 0 {
		t.more--
		t.item.number.Slot++
		t.item.number.Serial++
		return
	}
	var before *stretch
	if t.begun {
		before = &t.part
	}
	t.part = t.rest.stretch(before, t.left+1)
	t.item.number, t.more, t.begun = t.part.first, t.part.more, true
}

func (t *items) readSettings() {
	r, s := &t.rest, &t.item.settings
	s.ClusterID = string(r.text())
	s.LargestTTL = r.duration(r.uvarint())
	s.ClearMarker = r.uvarint()
	resume := r.byte()
	if resume > 1 {
		r.fail("a flag that is neither 0 nor 1")
	}
	s.ResumeFloor = resume == 1
}

// duration returns so many milliseconds.
func (r *reading) duration(ms uint64) time.Duration {
	if ms > math.MaxInt64/uint64(time.Millisecond) {
		r.fail("a duration that overflows")
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

func allTrue(flags []bool) bool {
	for _, f := range flags {
		if !f {
			return false
		}
	}
	return true
}
