package wire

import (
	"context"
	"fmt"
)

// A Request is a call at the end that serves it.
type Request struct {
	Op    byte
	Flags byte
	// Payload is good only until Handle returns.
	Payload []byte

	serving *serving
	stream  uint64
	size    int

	// Under the serving end's lock:
	state  requestState
	onEnd  func()
	ctx    context.Context // nil until asked for
	cancel context.CancelFunc
}

type requestState byte

const (
	requestOpen     requestState = iota
	requestAnswered              // by Reply
	requestEnded                 // cancelled, or its connection has gone
)

// Reply answers the request. The first call counts; after the request has
// ended it does nothing. It doesn't block, can be called from any goroutine,
// and keeps no reference to the payload.
func (r *Request) Reply(payload []byte) {
	s := r.serving
	s.mu.Lock()
	if r.state != requestOpen {
		s.mu.Unlock()
		return
	}
	cancel := r.leave(requestAnswered)
	var wake bool
	err := s.admitAnswer(len(payload))
	if err == nil {
		wake = s.put(frame{kind: kindAnswer, stream: r.stream, payload: payload})
	}
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	if wake {
		s.wakeWriter()
	}
	if err != nil {
		s.end(err)
	}
}

// admitAnswer says whether an answer may be queued. The lock is held.
func (s *serving) admitAnswer(size int) error {
	if size > MaxAnswer {
		return fmt.Errorf("answer of %d bytes, at most %d are allowed", size, MaxAnswer)
	}
	if len(s.queue)+size > s.config.MaxQueued {
		return fmt.Errorf("%w: %d bytes of answers wait to be read by the other end", ErrOverload, len(s.queue))
	}
	return nil
}

// OnEnd has f called once if the request ends before it was answered: its
// caller gave up, or the connection ended. It is called at once if that has
// happened already. Only the last f counts. It must not block.
func (r *Request) OnEnd(f func()) {
	r.serving.mu.Lock()
	ended := r.state == requestEnded
	if r.state == requestOpen {
		r.onEnd = f
	}
	r.serving.mu.Unlock()
	if ended {
		f()
	}
}

// Context returns a context that is cancelled when the request is answered or
// has ended.
func (r *Request) Context() context.Context {
	r.serving.mu.Lock()
	defer r.serving.mu.Unlock()
	if r.ctx == nil {
		r.ctx, r.cancel = context.WithCancel(context.Background())
	}
	if r.state != requestOpen {
		r.cancel()
	}
	return r.ctx
}

// leave takes the request out of the books, and returns what is to be called
// after unlocking, or nil. The lock is held.
func (r *Request) leave(state requestState) context.CancelFunc {
	delete(r.serving.requests, r.stream)
	r.serving.bytes -= r.size
	r.state = state
	onEnd, cancel := r.onEnd, r.cancel
	r.onEnd = nil
	if state == requestAnswered || onEnd == nil {
		return cancel
	}
	return func() {
		if cancel != nil {
			cancel()
		}
		onEnd()
	}
}
