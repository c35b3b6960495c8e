package wire

import "example.com/tenure"

// Join asks to be let into the cluster.
type Join struct {
	ID          string
	Incarnation string
	Addr        string // advertised
	Nonvoter    bool
}

func (m *Join) append(dst []byte) []byte {
	dst = appendText(dst, 1, m.ID)
	dst = appendText(dst, 2, m.Incarnation)
	dst = appendText(dst, 3, m.Addr)
	return appendBool(dst, 4, m.Nonvoter)
}

func (m *Join) field(c *cursor) {
	switch c.number {
	case 1:
		m.ID = c.text(maxID)
	case 2:
		m.Incarnation = c.text(maxID)
	case 3:
		m.Addr = c.text(maxAddr)
	case 4:
		m.Nonvoter = c.flag()
	}
}

// Target names the node that OpRemove or OpTransfer is about. An empty ID is
// any node, which only OpTransfer takes.
type Target struct{ ID string }

func (m *Target) append(dst []byte) []byte { return appendText(dst, 1, m.ID) }

func (m *Target) field(c *cursor) {
	if c.number == 1 {
		m.ID = c.text(maxID)
	}
}

// Members lists the nodes of the cluster.
type Members struct{ Members []tenure.Member }

// maxMembers bounds a list of nodes.
const maxMembers = 1 << 10

func (m *Members) append(dst []byte) []byte {
	for i := range m.Members {
		dst = appendPart(dst, 1, appendMember(nil, &m.Members[i]))
	}
	return dst
}

func (m *Members) field(c *cursor) {
	if c.number != 1 {
		return
	}
	if len(m.Members) == maxMembers {
		c.fail("more than %d members", maxMembers)
		return
	}
	m.Members = append(m.Members, c.member())
}

func appendMember(dst []byte, m *tenure.Member) []byte {
	dst = appendText(dst, 1, m.ID)
	dst = appendText(dst, 2, m.Incarnation)
	dst = appendText(dst, 3, m.Addr)
	dst = appendBool(dst, 4, m.Voter)
	return appendBool(dst, 5, m.Leader)
}

func (c *cursor) member() tenure.Member {
	var m tenure.Member
	in := cursor{rest: c.bytes}
	for in.next() {
		switch in.number {
		case 1:
			m.ID = in.text(maxID)
		case 2:
			m.Incarnation = in.text(maxID)
		case 3:
			m.Addr = in.text(maxAddr)
		case 4:
			m.Voter = in.flag()
		case 5:
			m.Leader = in.flag()
		}
	}
	c.adopt(&in)
	return m
}
