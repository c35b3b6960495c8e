package relay

import (
	"errors"
	"io"
	"net"
	"slices"
	"time"
)

// How much of one stream the relay holds before it stops reading: a sender
// then blocks, as it does when a real link is full.
const (
	pieceBytes  = 32 << 10
	queuePieces = 16
)

// An end says how a stream ended.
type end int

const (
	goesOn end = iota
	closed     // all was sent
	broken     // the connection was reset
)

// A piece is some bytes of a stream, or its end.
type piece struct {
	data []byte
	end  end
	due  time.Time
}

// A stream is one direction of a connection.
type stream struct {
	way      *way
	src, dst *net.TCPConn
	queue    chan piece
	done     <-chan struct{} // closed when the connection is over
}

func newStream(w *way, src, dst *net.TCPConn, done <-chan struct{}) *stream {
	return &stream{way: w, src: src, dst: dst, queue: make(chan piece, queuePieces), done: done}
}

// read queues what comes from the source until that has ended.
func (s *stream) read() {
	buf := make([]byte, pieceBytes)
	for {
		n, err := s.src.Read(buf)
		if n > 0 && !s.put(piece{data: slices.Clone(buf[:n])}) {
			return
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.EOF):
			s.put(piece{end: closed})
		default:
			s.put(piece{end: broken})
		}
		return
	}
}

func (s *stream) put(p piece) bool {
	p.due = s.way.due()
	select {
	case s.queue <- p:
		return true
	case <-s.done:
		return false
	}
}

// write passes on what was queued, in its order, as the way lets it, until the
// end has passed. An error says that the connection has to be reset.
func (s *stream) write() error {
	deaf := false // the destination takes nothing more: its own stream tells that
	for {
		var p piece
		select {
		case p = <-s.queue:
		case <-s.done:
			return errOver
		}
		if p.end != goesOn {
			return s.finish(p)
		}
		for len(p.data) > 0 {
			n := s.way.slice(len(p.data))
			if err := s.way.pass(s.done, p.due, n, false); err != nil {
				return err
			}
			if !deaf {
				_, err := s.dst.Write(p.data[:n])
				deaf = err != nil
			}
			p.data = p.data[n:]
		}
	}
}

func (s *stream) finish(p piece) error {
	if err := s.way.pass(s.done, p.due, 0, true); err != nil {
		return err
	}
	if p.end == broken {
		reset(s.dst)
		return nil
	}
	_ = s.dst.CloseWrite() // it may have ended itself
	return nil
}

// reset ends one side of a connection without a farewell.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0) // a connection that has ended needs none of it
	_ = c.Close()
}
