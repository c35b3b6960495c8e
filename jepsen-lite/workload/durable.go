package workload

import (
	"context"
	"errors"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
	"example.com/tenure/jepsen-lite/history"
)

// A durable is the durable layer as one tenure uses it. Each method may take
// its time, and a freeze may come at every step.
type durable interface {
	// succeed takes over from the tenures before, and returns the epoch of the
	// copy that it started from, 0 for none or where that is not known, and
	// the values in it. It comes first.
	succeed(l *holder.Lease) (from uint64, values history.Set, err error)
	// put writes a value, and returns the seal that it found then, 0 where that
	// is not known, and an error if a later tenure may have missed the value.
	put(l *holder.Lease, value uint64) (sealed uint64, err error)
	// read returns the values in the tenure's own copy.
	read(l *holder.Lease) (history.Set, error)
	// close frees what the layer has open.
	close()
}

// A tenant does a tenure's work on its durable layer, and writes down what is
// done.
type tenant struct {
	*Process
	lease *holder.Lease
	layer durable
}

// recover takes over from the tenures before.
func (t *tenant) recover() error {
	op := t.begin(history.Event{F: history.Recover, Forgotten: t.lease.ForgottenAtEpoch()}, t.lease)
	from, values, err := t.layer.succeed(t.lease)
	if err != nil {
		op.unknown(err)
		return err
	}
	op.end(history.Event{Kind: history.OK, Copy: from, Values: values})
	return nil
}

// write writes one value through the gate and acknowledges it.
func (t *tenant) write() error {
	next, err := t.cfg.Copies.Do(Command{F: Next, Key: t.lease.Key()})
	if err != nil {
		return err
	}
	value := next.Value
	var op operation
	var second glance
	var sealed uint64
	first := t.glance()
	err = t.lease.Do(t.ctx, func(context.Context) error {
		t.gate(t.lease, 1, value, first)
		op = t.begin(history.Event{F: history.Write, Value: value}, t.lease)
		var err error
		if sealed, err = t.layer.put(t.lease, value); err != nil {
			return err
		}
		second = t.glance()
		return nil
	})
	switch {
	case op.id == 0:
		return err // the first gate was closed: nothing was done
	case err == nil:
		t.gate(t.lease, 2, value, second)
		if !t.cfg.Pass(BeforeAck) {
			return errDead
		}
		t.record(history.Event{Kind: history.Ack, Key: t.lease.Key(), Owner: t.lease.Owner(), Epoch: t.lease.Epoch(), Value: value})
		op.end(history.Event{Kind: history.OK, Sealed: sealed})
	case errors.Is(err, tenure.ErrFenced):
		op.end(history.Event{Kind: history.Info, Err: history.Fenced, N: 2, Sealed: sealed})
	default:
		op.unknown(err)
	}
	return err
}

// read reads the tenure's own copy.
func (t *tenant) read() error {
	first := t.glance()
	return t.lease.Do(t.ctx, func(context.Context) error {
		t.gate(t.lease, 0, 0, first)
		op := t.begin(history.Event{F: history.Read}, t.lease)
		values, err := t.layer.read(t.lease)
		if err != nil {
			op.unknown(err)
			return err
		}
		op.end(history.Event{Kind: history.OK, Copy: t.lease.Epoch(), Values: values})
		return nil
	})
}

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
