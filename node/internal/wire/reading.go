package wire

import "example.com/tenure"

// Empty is a message that says nothing.
type Empty struct{}

func (*Empty) append(dst []byte) []byte { return dst }
func (*Empty) field(*cursor)            {}

// Index is a log index.
type Index struct{ Index uint64 }

func (m *Index) append(dst []byte) []byte { return appendNumber(dst, 1, m.Index) }

func (m *Index) field(c *cursor) {
	if c.number == 1 {
		m.Index = c.value
	}
}

// Key names what OpGet reads.
type Key struct{ Key string }

func (m *Key) append(dst []byte) []byte { return appendText(dst, 1, m.Key) }

func (m *Key) field(c *cursor) {
	if c.number == 1 {
		m.Key = c.text(tenure.MaxKeyBytes)
	}
}

// View is a record as the answering node sees it.
type View struct{ View tenure.View }

func (m *View) append(dst []byte) []byte {
	v := &m.View
	dst = appendPart(dst, 1, appendRecord(nil, v.Record))
	dst = appendDuration(dst, 2, v.TTL)
	dst = appendNumber(dst, 3, v.Index)
	dst = appendBool(dst, 4, v.Expired)
	return appendDuration(dst, 5, v.Remaining)
}

func (m *View) field(c *cursor) {
	v := &m.View
	switch c.number {
	case 1:
		v.Record = c.record()
	case 2:
		v.TTL = c.duration()
	case 3:
		v.Index = c.value
	case 4:
		v.Expired = c.flag()
	case 5:
		v.Remaining = c.duration()
	}
}

// StateAsk asks for the checksum of the state at an index.
type StateAsk struct{ Index uint64 }

func (m *StateAsk) append(dst []byte) []byte { return appendNumber(dst, 1, m.Index) }

func (m *StateAsk) field(c *cursor) {
	if c.number == 1 {
		m.Index = c.value
	}
}

// State says what a node has applied, and the checksum of its state at an
// index: the one that was asked for if the node still knows it, else another or
// 0 for none.
type State struct {
	Applied  uint64
	Index    uint64 // that Checksum belongs to
	Checksum uint64
}

func (m *State) append(dst []byte) []byte {
	dst = appendNumber(dst, 1, m.Applied)
	dst = appendNumber(dst, 2, m.Index)
	return appendNumber(dst, 3, m.Checksum)
}

func (m *State) field(c *cursor) {
	switch c.number {
	case 1:
		m.Applied = c.value
	case 2:
		m.Index = c.value
	case 3:
		m.Checksum = c.value
	}
}
