package port

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure/node/internal/wire"
)

// streams is the raft.StreamLayer of a port: what it accepts and dials has
// exchanged hellos, and is of this cluster.
type streams struct {
	*handover
	port *Port
	// expect says which node an address is of; see TransportConfig.
	expect func(addr raft.ServerAddress) (id, incarnation string)
	ctx    context.Context // ends with the streams
	end    context.CancelFunc
}

func newStreams(p *Port, expect func(raft.ServerAddress) (string, string)) *streams {
	s := &streams{handover: newHandover(p.advertise), port: p, expect: expect}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

// give hands an accepted stream to Raft's transport.
func (s *streams) give(c *conn, peer wire.Hello) {
	s.port.conns.markStream(c, s, peer.Addr)
	s.handover.give(c, s.port.config.GreetingTime)
	if s.ctx.Err() != nil {
		_ = c.Close() // it may have been marked after Close looked
	}
}

// A dialError says that a node could not be reached, or was the wrong one.
type dialError struct{ error }

// Unwrap returns the cause.
func (e *dialError) Unwrap() error { return e.error }

// Dial is raft.StreamLayer's. It connects to a node and makes sure that it is
// the one that is meant.
func (s *streams) Dial(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	c, err := s.dial(ctx, addr)
	if err != nil {
		return nil, &dialError{err}
	}
	return c, nil
}

func (s *streams) dial(ctx context.Context, addr raft.ServerAddress) (*conn, error) {
	nc, err := s.port.config.Network.Dial(ctx, string(addr))
	if err != nil {
		return nil, err
	}
	c := s.port.conns.add(nc)
	if c == nil {
		return nil, net.ErrClosed
	}
	s.port.conns.markStream(c, s, "")
	hello := s.port.self(wire.PurposeRaft)
	hello.ExpectID, hello.ExpectIncarnation = s.expect(addr)
	if _, err := wire.Greet(ctx, c, hello); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	return c, nil
}

// Close is net.Listener's. It closes all streams, which Raft's transport
// doesn't do.
func (s *streams) Close() error {
	s.end()
	_ = s.handover.Close()
	s.port.conns.closeThose(func(c *conn) bool { return c.stream == s })
	return nil
}

// closeFrom closes the streams that were accepted from the peer at an address.
func (s *streams) closeFrom(addr string) {
	s.port.conns.closeThose(func(c *conn) bool { return c.stream == s && c.from == addr })
}

// anyFrom says whether a stream was accepted from the peer at an address.
func (s *streams) anyFrom(addr string) bool {
	return addr != "" && s.port.conns.any(func(c *conn) bool { return c.stream == s && c.from == addr })
}
