package wire

import "time"

// Identity is what a node tells its listed peers before a cluster is founded,
// and what they answer.
type Identity struct {
	ID          string
	Incarnation string
	Addr        string // advertised
	ClusterID   string // "" if it belongs to none
	PeersHash   string // the same on two nodes that list the same peers
	Empty       bool   // its data folder holds nothing of any cluster
}

func (m *Identity) append(dst []byte) []byte {
	dst = appendText(dst, 1, m.ID)
	dst = appendText(dst, 2, m.Incarnation)
	dst = appendText(dst, 3, m.Addr)
	dst = appendText(dst, 4, m.ClusterID)
	dst = appendText(dst, 5, m.PeersHash)
	return appendBool(dst, 6, m.Empty)
}

func (m *Identity) field(c *cursor) {
	switch c.number {
	case 1:
		m.ID = c.text(maxID)
	case 2:
		m.Incarnation = c.text(maxID)
	case 3:
		m.Addr = c.text(maxAddr)
	case 4:
		m.ClusterID = c.text(maxID)
	case 5:
		m.PeersHash = c.text(maxID)
	case 6:
		m.Empty = c.flag()
	}
}

// Founding tells a node what cluster it now belongs to.
type Founding struct {
	ClusterID  string
	LargestTTL time.Duration
	Founders   []Founder
}

// A Founder is a node of the founding.
type Founder struct {
	ID          string
	Incarnation string
	Addr        string // advertised
}

func (m *Founding) append(dst []byte) []byte {
	dst = appendText(dst, 1, m.ClusterID)
	dst = appendDuration(dst, 2, m.LargestTTL)
	for _, f := range m.Founders {
		dst = appendPart(dst, 3, appendFounder(nil, f))
	}
	return dst
}

func (m *Founding) field(c *cursor) {
	switch c.number {
	case 1:
		m.ClusterID = c.text(maxID)
	case 2:
		m.LargestTTL = c.duration()
	case 3:
		if len(m.Founders) == maxMembers {
			c.fail("more than %d founders", maxMembers)
			return
		}
		m.Founders = append(m.Founders, c.founder())
	}
}

func appendFounder(dst []byte, f Founder) []byte {
	dst = appendText(dst, 1, f.ID)
	dst = appendText(dst, 2, f.Incarnation)
	return appendText(dst, 3, f.Addr)
}

func (c *cursor) founder() Founder {
	var f Founder
	in := cursor{rest: c.bytes}
	for in.next() {
		switch in.number {
		case 1:
			f.ID = in.text(maxID)
		case 2:
			f.Incarnation = in.text(maxID)
		case 3:
			f.Addr = in.text(maxAddr)
		}
	}
	c.adopt(&in)
	return f
}

// Joined answers Join: what the cluster is.
type Joined struct {
	ClusterID  string
	LargestTTL time.Duration
}

func (m *Joined) append(dst []byte) []byte {
	dst = appendText(dst, 1, m.ClusterID)
	return appendDuration(dst, 2, m.LargestTTL)
}

func (m *Joined) field(c *cursor) {
	switch c.number {
	case 1:
		m.ClusterID = c.text(maxID)
	case 2:
		m.LargestTTL = c.duration()
	}
}
