package wire

import (
	"context"
	"fmt"
	"net"
	"time"
)

// flushTime is how long Serve goes on writing answers after its context ended.
const flushTime = 500 * time.Millisecond

// A Handler answers requests.
type Handler interface {
	// Handle is called for each request in the order in which they came, one
	// at a time. It must not block: it answers at once with req.Reply, or
	// leaves that to another goroutine. A request that is never answered
	// stays open until its caller gives up or the connection ends.
	Handle(req *Request)
}

// serving is the serving end of a connection.
type serving struct {
	link
	handler Handler

	// Under the link's lock:
	requests map[uint64]*Request // open ones by stream
	bytes    int                 // payload of all of them
}

// Serve answers the calls of a connection whose hellos have been exchanged,
// until the connection ends or ctx does, and returns why. It takes the
// connection over and closes it. When ctx ends no more requests are taken, and
// answers that were given before are still written, for half a second at most.
// All requests have ended, and nothing runs any more, when it returns.
func Serve(ctx context.Context, conn net.Conn, config Config, handler Handler) error {
	s := &serving{handler: handler, requests: make(map[uint64]*Request)}
	s.open(conn, config)
	written := make(chan struct{})
	go func() {
		defer close(written)
		s.write()
	}()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()

	err := s.read()
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ErrClosed, context.Cause(ctx))
		_ = conn.SetWriteDeadline(time.Now().Add(flushTime))
		s.finish()
		<-written
	}
	s.end(err)
	<-written
	s.endRequests()
	return s.reason()
}

func (s *serving) read() error {
	frames := newFrameReader(s.conn, MaxRequest, s.sign)
	for {
		f, err := frames.next()
		if err == nil {
			err = s.receive(f)
		}
		if err != nil {
			return err
		}
	}
}

func (s *serving) receive(f frame) error {
	switch f.kind {
	case kindRequest:
		return s.request(f)
	case kindCancel:
		s.cancel(f.stream)
	case kindPing:
		s.send(frame{kind: kindPong})
	case kindPong, kindVoid:
	default:
		return fmt.Errorf("%w: frame of kind %d at the serving end", ErrProtocol, f.kind)
	}
	return nil
}

// request hands a request to the handler.
func (s *serving) request(f frame) error {
	r := &Request{Op: f.op, Flags: f.flags, Payload: f.payload, serving: s, stream: f.stream, size: len(f.payload)}
	s.mu.Lock()
	err := s.admitRequest(r)
	if err == nil {
		s.requests[r.stream] = r
		s.bytes += r.size
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	s.handler.Handle(r)
	r.Payload = nil // the buffer behind it is about to be used again
	return nil
}

// admitRequest says whether the caller may send one more. The lock is held.
func (s *serving) admitRequest(r *Request) error {
	switch {
	case s.err != nil:
		return s.err
	case s.requests[r.stream] != nil:
		return fmt.Errorf("%w: two requests on stream %d", ErrProtocol, r.stream)
	case len(s.requests) >= s.config.MaxInFlight:
		return fmt.Errorf("%w: %d requests", ErrOverload, len(s.requests))
	case s.bytes+r.size > s.config.MaxInFlightBytes:
		return fmt.Errorf("%w: requests of %d bytes", ErrOverload, s.bytes)
	}
	return nil
}

// cancel ends a request whose caller gave up. One that isn't there was
// answered meanwhile.
func (s *serving) cancel(stream uint64) {
	s.mu.Lock()
	var call func()
	if r := s.requests[stream]; r != nil {
		call = r.leave(requestEnded)
	}
	s.mu.Unlock()
	if call != nil {
		call()
	}
}

// endRequests ends all requests after the link has ended.
func (s *serving) endRequests() {
	s.mu.Lock()
	calls := make([]func(), 0, len(s.requests))
	for _, r := range s.requests {
		if call := r.leave(requestEnded); call != nil {
			calls = append(calls, call)
		}
	}
	s.mu.Unlock()
	for _, call := range calls {
		call()
	}
}
