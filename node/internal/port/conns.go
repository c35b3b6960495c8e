package port

import (
	"net"
	"sync"
)

// conns are the open connections of a port, accepted and dialled.
type conns struct {
	mu      sync.Mutex
	closed  bool
	open    map[*conn]struct{}
	clients int // of them, connections of clients
}

// A conn is one of them. It leaves the set when it is closed.
type conn struct {
	net.Conn
	set *conns
	// first was read already, to tell what the connection is for.
	first []byte

	// Under the set's lock:
	client bool
	stream *streams // whose stream of Raft's it is, or nil
	from   string   // for an accepted stream, the peer's advertised address
}

// add takes a connection in, or closes it and returns nil if all are closed.
func (s *conns) add(c net.Conn) *conn {
	one := &conn{Conn: c, set: s}
	s.mu.Lock()
	closed := s.closed
	if !closed {
		if s.open == nil {
			s.open = make(map[*conn]struct{})
		}
		s.open[one] = struct{}{}
	}
	s.mu.Unlock()
	if closed {
		_ = c.Close()
		return nil
	}
	return one
}

// countClient counts c as a client's, unless there are so many already.
func (s *conns) countClient(c *conn, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients >= most {
		return false
	}
	if _, open := s.open[c]; open && !c.client {
		c.client = true
		s.clients++
	}
	return true
}

// markStream notes whose stream c is.
func (s *conns) markStream(c *conn, of *streams, from string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.stream, c.from = of, from
}

// closeAll closes all connections, and every one that is added later.
func (s *conns) closeAll() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.closeThose(func(*conn) bool { return true })
}

// closeThose closes the connections that which selects.
func (s *conns) closeThose(which func(*conn) bool) {
	s.mu.Lock()
	var those []*conn
	for c := range s.open {
		if which(c) {
			those = append(those, c)
		}
	}
	s.mu.Unlock()
	for _, c := range those {
		_ = c.Close()
	}
}

// any says whether which selects any connection.
func (s *conns) any(which func(*conn) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		if which(c) {
			return true
		}
	}
	return false
}

// Read reads what was read already, and then on.
func (c *conn) Read(p []byte) (int, error) {
	if len(c.first) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// CloseWrite ends what this end sends, where the network can do that. An
// http.Server looks for it, so that a client which is still sending when it is
// refused gets to read why.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close closes the connection and takes it out of the set.
func (c *conn) Close() error {
	c.set.mu.Lock()
	if _, open := c.set.open[c]; open {
		delete(c.set.open, c)
		if c.client {
			c.set.clients--
		}
	}
	c.set.mu.Unlock()
	return c.Conn.Close()
}
