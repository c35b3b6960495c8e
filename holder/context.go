package holder

import (
	"context"
	"sync/atomic"
	"time"
)

// A boundContext is the lease's context, once somebody has asked for it and
// until the gate closes. It is set and cancelled with the holder's lock held.
type boundContext struct {
	live atomic.Pointer[liveContext]
}

type liveContext struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// Context returns a context that lives while the gate is open: it is cancelled
// when the fence passes, when the tenure is lost, and at the call of Release
// or Forget. [context.Cause] then gives a [*tenure.FencedError] that says why.
// If the gate is closed now, the context is cancelled already. After a
// resumption a new call gives a new one.
//
// The cancellation at the fence comes from a timer: a courtesy to stop work
// that is in vain. Only the gate allows to acknowledge.
func (l *Lease) Context() context.Context {
	if live := l.bound.live.Load(); live != nil && l.gate.pass(l.holder.clock) && live.ctx.Err() == nil {
		return live.ctx
	}
	return l.holder.bind(l)
}

// bind returns l's context, made now if there is none, or a cancelled one if
// the gate is closed.
func (h *Holder) bind(l *Lease) context.Context {
	h.mu.Lock()
	defer h.unlock()
	live := l.bound.live.Load()
	if live == nil {
		live = &liveContext{}
		live.ctx, live.cancel = context.WithCancelCause(context.Background())
		l.bound.live.Store(live)
	}
	if !l.gate.pass(h.clock) {
		l.unbind()
		return live.ctx
	}
	h.review(l, h.clock.Now())
	return live.ctx
}

// unbind cancels the lease's context, if there is one, because the gate is
// closed.
func (l *Lease) unbind() {
	if live := l.bound.live.Swap(nil); live != nil {
		live.cancel(l.fenced())
	}
}

// unbindIfPast cancels the lease's context if the fence has passed.
func (l *Lease) unbindIfPast(now time.Duration) {
	if now >= l.fence {
		l.unbind()
	}
}
