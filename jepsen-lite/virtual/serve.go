package virtual

import (
	"context"
	"errors"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
	"example.com/tenure/jepsen-lite/history"
)

// gate writes down that the lease's gate just passed.
func (p *process) gate(l *holder.Lease, n int, value uint64) {
	p.record(history.Event{
		Kind: history.Gate, Key: l.Key(), Owner: l.Owner(), Epoch: l.Epoch(), N: n, Value: value, Reading: p.clock.Now(),
	})
}

// write writes one value through the gate and acknowledges it. A freeze may
// come at every step.
func (p *process) write(r *register, l *holder.Lease, step func() time.Duration) error {
	value := r.next()
	var op operation
	err := l.Do(p.ctx, func(context.Context) error {
		p.gate(l, 1, value)
		op = p.begin(history.Event{F: history.Write, Value: value}, l)
		if !p.sleep(step()) {
			return errDead
		}
		r.write(l.Epoch(), value)
		if !p.sleep(step()) {
			return errDead
		}
		return r.look(l.Epoch())
	})
	switch {
	case op.id == 0:
		return err // the first gate was closed: nothing was done
	case err == nil:
		p.gate(l, 2, value)
		if !p.pass() {
			return errDead
		}
		p.record(history.Event{Kind: history.Ack, Key: l.Key(), Owner: l.Owner(), Epoch: l.Epoch(), Value: value})
		op.end(history.Event{Kind: history.OK})
	case errors.Is(err, tenure.ErrFenced):
		op.end(history.Event{Kind: history.Info, Err: history.Fenced, N: 2})
	default:
		op.unknown(err.Error())
	}
	return err
}

// read reads the holder's own copy.
func (p *process) read(r *register, l *holder.Lease, step func() time.Duration) error {
	var op operation
	return l.Do(p.ctx, func(context.Context) error {
		p.gate(l, 0, 0)
		op = p.begin(history.Event{F: history.Read}, l)
		values := r.read(l.Epoch())
		if !p.sleep(step()) {
			return errDead
		}
		op.end(history.Event{Kind: history.OK, Copy: l.Epoch(), Values: history.SetOf(values...)})
		return nil
	})
}
