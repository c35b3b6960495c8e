package workload

import (
	"context"
	"errors"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
	"example.com/tenure/jepsen-lite/history"
)

// A glance is a look at both clocks just before a gate is asked. The gate
// passes at that instant or later, so that one which passed at the glance
// already says too little and never too much.
type glance struct{ at, reading time.Duration }

func (p *Process) glance() glance { return glance{p.cfg.Journal.Now(), p.cfg.Clock.Now()} }

// gate writes down that the lease's gate passed, after a glance.
func (p *Process) gate(l *holder.Lease, n int, value uint64, before glance) {
	p.record(history.Event{
		T: before.at, Kind: history.Gate, Key: l.Key(), Owner: l.Owner(), Epoch: l.Epoch(), N: n, Value: value, Reading: before.reading,
	})
}

// write writes one value through the gate and acknowledges it. A freeze may
// come at every step.
func (p *Process) write(l *holder.Lease, step func() time.Duration) error {
	next, err := p.cfg.Copies.Do(Command{F: Next, Key: l.Key()})
	if err != nil {
		return err
	}
	value := next.Value
	var op operation
	var second glance
	first := p.glance()
	err = l.Do(p.ctx, func(context.Context) error {
		p.gate(l, 1, value, first)
		op = p.begin(history.Event{F: history.Write, Value: value}, l)
		if err := p.put(l, value, step); err != nil {
			return err
		}
		second = p.glance()
		return nil
	})
	switch {
	case op.id == 0:
		return err // the first gate was closed: nothing was done
	case err == nil:
		p.gate(l, 2, value, second)
		if !p.cfg.Pass(BeforeAck) {
			return errDead
		}
		p.record(history.Event{Kind: history.Ack, Key: l.Key(), Owner: l.Owner(), Epoch: l.Epoch(), Value: value})
		op.end(history.Event{Kind: history.OK})
	case errors.Is(err, tenure.ErrFenced):
		op.end(history.Event{Kind: history.Info, Err: history.Fenced, N: 2})
	default:
		op.unknown(err)
	}
	return err
}

// put writes a value to the lease's copy, and then looks whether its epoch has
// been sealed.
func (p *Process) put(l *holder.Lease, value uint64, step func() time.Duration) error {
	if !p.cfg.Pass(BeforeWrite) || !p.sleep(step()) {
		return errDead
	}
	if _, err := p.cfg.Copies.Do(Command{F: Write, Key: l.Key(), Epoch: l.Epoch(), Value: value}); err != nil {
		return err
	}
	if !p.cfg.Pass(AfterWrite) || !p.sleep(step()) {
		return errDead
	}
	seal, err := p.cfg.Copies.Do(Command{F: Look, Key: l.Key()})
	if err == nil && seal.Sealed > l.Epoch() {
		return errSealed
	}
	return err
}

// read reads the holder's own copy.
func (p *Process) read(l *holder.Lease, step func() time.Duration) error {
	first := p.glance()
	return l.Do(p.ctx, func(context.Context) error {
		p.gate(l, 0, 0, first)
		op := p.begin(history.Event{F: history.Read}, l)
		copied, err := p.cfg.Copies.Do(Command{F: Read, Key: l.Key(), Epoch: l.Epoch()})
		if err != nil {
			op.unknown(err)
			return err
		}
		if !p.sleep(step()) {
			return errDead
		}
		op.end(history.Event{Kind: history.OK, Copy: l.Epoch(), Values: copied.Values})
		return nil
	})
}
