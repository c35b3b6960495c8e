package holder

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"example.com/tenure"
)

// Do calls f between two passes of the gate. nil means that f returned nil and
// that the gate was open before and after it: what f did may be acknowledged,
// nobody else owned the key meanwhile.
//
// If the gate is closed, f is not called, and the error is the gate's, a
// [*tenure.FencedError]. If the gate closed while f ran, the error is the
// gate's, and what f did may have been done or not and must not be
// acknowledged. If f fails, its error is returned as it is; if the gate closed
// as well, the error matches both.
//
// The context that f gets is ctx, cancelled also when the gate closes, with
// the reason as its cause, and when Do returns. It costs nothing unless f looks
// at it. ctx itself is not looked at by Do.
func (l *Lease) Do(ctx context.Context, f func(ctx context.Context) error) error {
	if err := l.AssertHeld(); err != nil {
		return err
	}
	err := l.call(ctx, f)
	if l.gate.pass(l.holder.clock) {
		return err
	}
	fenced := l.fenced()
	if err == nil {
		return fenced
	}
	var known *tenure.FencedError
	if errors.As(err, &known) && known.Key == l.key && known.Epoch == l.epoch {
		return err // f asked the gate itself
	}
	return fmt.Errorf("%w; the work failed, too: %w", fenced, err)
}

func (l *Lease) call(ctx context.Context, f func(ctx context.Context) error) error {
	work := &workContext{Context: ctx, lease: l}
	defer work.end()
	return f(work)
}

// A workContext is the context of one Do. It is bound to the lease only when
// somebody asks whether it has ended: most functions of a write path never do,
// and need not pay for it.
type workContext struct {
	context.Context // of Do's caller
	lease           *Lease
	both            atomic.Pointer[binding] // nil until somebody asks or Do returns
}

// A binding is a context that ends with the caller's and with the lease's.
type binding struct {
	context.Context
	cancel context.CancelCauseFunc
	free   func() bool // takes it off the lease's context, if it is on it
}

// returned stands for the binding of a context of which nobody had asked when
// Do returned.
var returned = new(binding)

// Done returns a channel that is closed when the caller's context has ended,
// the gate has closed or Do has returned.
func (c *workContext) Done() <-chan struct{} { return c.bind().Done() }

// Err returns why Done is closed, or nil.
func (c *workContext) Err() error { return c.bind().Err() }

// Value returns the caller's value for key.
func (c *workContext) Value(key any) any {
	if both := c.both.Load(); both != nil && both != returned {
		return both.Value(key) // so that context.Cause finds its cause
	}
	return c.Context.Value(key)
}

// bind returns the context that ends with both. Where several ask first at the
// same moment, or Do returns then, one of them wins, and the others take theirs
// back.
func (c *workContext) bind() context.Context {
	for {
		before := c.both.Load()
		if before != nil && before != returned {
			return before
		}
		both := c.newBinding(before == returned)
		if c.both.CompareAndSwap(before, both) {
			return both
		}
		both.end()
	}
}

// newBinding returns a binding, one that has ended already if Do has returned.
func (c *workContext) newBinding(ended bool) *binding {
	ctx, cancel := context.WithCancelCause(c.Context)
	both := &binding{Context: ctx, cancel: cancel}
	if ended {
		cancel(nil)
		return both
	}
	held := c.lease.Context()
	if held.Err() != nil {
		cancel(context.Cause(held))
		return both
	}
	both.free = context.AfterFunc(held, func() { cancel(context.Cause(held)) })
	return both
}

func (b *binding) end() {
	if b.free != nil {
		b.free()
	}
	b.cancel(nil)
}

// end cancels the context, as Do returns.
func (c *workContext) end() {
	if !c.both.CompareAndSwap(nil, returned) {
		c.both.Load().end()
	}
}
