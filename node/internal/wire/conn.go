package wire

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// A Conn is the calling end of a connection. Many calls can be under way at
// once; their requests share writes. It is safe for concurrent use.
type Conn struct {
	link
	running sync.WaitGroup
	spare   sync.Pool // of *call; one a Conn, since channels must not leave a synctest bubble

	// Under the link's lock:
	calls  map[uint64]*call // by stream
	stream uint64           // of the newest call
	bytes  int              // payload of all calls
}

// A call is a request that waits for its answer. It is in the Conn's map until
// its outcome has been sent.
type call struct {
	outcome chan outcome // has room for the only one
	at      uint64       // where in all that was ever queued its frame begins
	size    int          // of the payload
}

type outcome struct {
	payload []byte
	err     error
}

// NewConn starts the calling end of a connection whose hellos have been
// exchanged. It takes the connection over. The caller must call Close.
func NewConn(conn net.Conn, config Config) *Conn {
	c := &Conn{calls: make(map[uint64]*call)}
	c.spare.New = func() any { return &call{outcome: make(chan outcome, 1)} }
	c.open(conn, config)
	c.running.Go(c.write)
	c.running.Go(c.read)
	return c
}

// Call sends a request and blocks until its answer is there, ctx ends, or the
// connection does. The payload can be used again when it returns. An error is
// a [*NotSent] or a [*Broken]; a refusal by the other end is an answer.
// When ctx ends the other end is told that nobody waits any more.
func (c *Conn) Call(ctx context.Context, op, flags byte, payload []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, &NotSent{Err: err}
	}
	call, stream, err := c.start(op, flags, payload)
	if err != nil {
		return nil, &NotSent{Err: err}
	}
	select {
	case out := <-call.outcome:
		c.spare.Put(call)
		return out.payload, out.err
	case <-ctx.Done():
		out := c.abandon(call, stream, ctx.Err())
		c.spare.Put(call)
		return out.payload, out.err
	}
}

// start queues a request.
func (c *Conn) start(op, flags byte, payload []byte) (*call, uint64, error) {
	if len(payload) > MaxRequest {
		return nil, 0, fmt.Errorf("%w: request of %d bytes, at most %d are allowed", ErrOverload, len(payload), MaxRequest)
	}
	c.mu.Lock()
	if err := c.admit(len(payload)); err != nil {
		c.mu.Unlock()
		return nil, 0, err
	}
	c.stream++
	stream := c.stream
	one := c.spare.Get().(*call)
	one.at, one.size = c.taken+uint64(len(c.queue)), len(payload)
	c.calls[stream] = one
	c.bytes += len(payload)
	wake := c.put(frame{kind: kindRequest, stream: stream, op: op, flags: flags, payload: payload})
	c.mu.Unlock()
	if wake {
		c.wakeWriter()
	}
	return one, stream, nil
}

// admit says whether one more request may be queued. The lock is held.
func (c *Conn) admit(size int) error {
	switch {
	case c.err != nil:
		return c.err
	case len(c.calls) >= c.config.MaxInFlight:
		return fmt.Errorf("%w: %d calls", ErrOverload, len(c.calls))
	case c.bytes+size > c.config.MaxInFlightBytes:
		return fmt.Errorf("%w: calls of %d bytes", ErrOverload, c.bytes)
	case len(c.queue)+size > c.config.MaxQueued:
		return fmt.Errorf("%w: %d bytes wait to be read by the other end", ErrOverload, len(c.queue))
	}
	return nil
}

// abandon ends a call whose caller no longer waits, unless its outcome is
// already there.
func (c *Conn) abandon(call *call, stream uint64, cause error) outcome {
	c.mu.Lock()
	if c.calls[stream] != call {
		c.mu.Unlock()
		return <-call.outcome // sent before the call left the map
	}
	c.forget(stream, call)
	if call.at >= c.taken {
		c.queue[call.at-c.taken+kindAt] = byte(kindVoid)
		c.mu.Unlock()
		return outcome{err: &NotSent{Err: cause}}
	}
	c.mu.Unlock()
	c.send(frame{kind: kindCancel, stream: stream})
	return outcome{err: &Broken{Err: cause}}
}

// forget takes a call out of the books. The lock is held.
func (c *Conn) forget(stream uint64, call *call) {
	delete(c.calls, stream)
	c.bytes -= call.size
}

// read runs the reader until the connection ends, and then answers all calls.
func (c *Conn) read() {
	frames := newFrameReader(c.conn, MaxAnswer, c.sign)
	for {
		f, err := frames.next()
		if err == nil {
			err = c.receive(f)
		}
		if err != nil {
			c.end(err)
			c.failCalls()
			return
		}
	}
}

func (c *Conn) receive(f frame) error {
	switch f.kind {
	case kindAnswer:
		c.answer(f)
	case kindPing:
		c.send(frame{kind: kindPong})
	case kindPong:
	default:
		return fmt.Errorf("%w: frame of kind %d at the calling end", ErrProtocol, f.kind)
	}
	return nil
}

// answer hands an answer to its call. One without a call is late: its caller
// has gone.
func (c *Conn) answer(f frame) {
	payload := append([]byte(nil), f.payload...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.calls[f.stream]; call != nil {
		c.forget(f.stream, call)
		call.outcome <- outcome{payload: payload}
	}
}

// failCalls ends all calls after the link has ended. What the writer has not
// taken has surely not left.
func (c *Conn) failCalls() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for stream, call := range c.calls {
		c.forget(stream, call)
		if call.at >= c.taken {
			call.outcome <- outcome{err: &NotSent{Err: c.err}}
		} else {
			call.outcome <- outcome{err: &Broken{Err: c.err}}
		}
	}
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.ended }

// Err returns why the connection ended, or nil while it stands.
func (c *Conn) Err() error { return c.reason() }

// Close ends the connection and all calls, and waits until nothing of it runs.
// It is safe to call again.
func (c *Conn) Close() error {
	c.end(ErrClosed)
	c.running.Wait()
	return nil
}
