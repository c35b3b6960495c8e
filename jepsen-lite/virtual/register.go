package virtual

import (
	"errors"
	"sync"
	"time"

	"example.com/tenure/holder"
	"example.com/tenure/jepsen-lite/history"
)

// A register is the durable copies of one key: a set of values an epoch, kept
// as DESIGN 2.5 demands. What is written is durable at once; it is the steps
// that take time.
type register struct {
	mu     sync.Mutex
	copies map[uint64][]uint64
	sealed uint64
	values uint64 // written ever
}

var (
	errSealed  = errors.New("the epoch is sealed: a later one has been recovered")
	errForeign = errors.New("a copy or a seal above the own epoch")
)

func newRegister() *register { return &register{copies: make(map[uint64][]uint64)} }

// next returns a value that nobody has written yet.
func (r *register) next() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.values++
	return r.values
}

// seal raises the seal below an epoch: nothing older is acknowledged from now
// on.
func (r *register) seal(epoch uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sealed > epoch {
		return errForeign
	}
	r.sealed = epoch
	return nil
}

// newest returns the newest live copy and its epoch, 0 for none.
func (r *register) newest(l *holder.Lease) (uint64, []uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found uint64
	for epoch := range r.copies {
		if epoch > l.Epoch() {
			return 0, nil, errForeign
		}
		if l.Live(epoch) {
			found = max(found, epoch)
		}
	}
	return found, append([]uint64(nil), r.copies[found]...), nil
}

// publish makes a copy complete in one step.
func (r *register) publish(epoch uint64, values []uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.copies[epoch] = values
}

func (r *register) write(epoch, value uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.copies[epoch] = append(r.copies[epoch], value)
}

func (r *register) read(epoch uint64) []uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]uint64(nil), r.copies[epoch]...)
}

// look reports whether an epoch has been sealed.
func (r *register) look(epoch uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sealed > epoch {
		return errSealed
	}
	return nil
}

// An operation is one on a register, as it is written down.
type operation struct {
	process *process
	id      uint64
}

func (p *process) begin(e history.Event, l *holder.Lease) operation {
	op := operation{p, p.arena.nextID()}
	e.Kind, e.ID, e.Key, e.Owner, e.Epoch = history.Invoke, op.id, l.Key(), l.Owner(), l.Epoch()
	p.record(e)
	return op
}

// end completes the operation, unless the process is dead.
func (o operation) end(e history.Event) {
	if o.process.pass() {
		e.ID = o.id
		o.process.record(e)
	}
}

// unknown completes an operation whose effect may be there or not.
func (o operation) unknown(why string) { o.end(history.Event{Kind: history.Info, Err: why}) }

// recover seals, reads and publishes.
func (p *process) recover(r *register, l *holder.Lease, step func() time.Duration) error {
	op := p.begin(history.Event{F: history.Recover, Forgotten: l.ForgottenAtEpoch()}, l)
	if !p.sleep(step()) {
		op.unknown("stopped")
		return errDead
	}
	if err := r.seal(l.Epoch()); err != nil {
		op.unknown(err.Error())
		return err
	}
	if !p.sleep(step()) {
		op.unknown("stopped")
		return errDead
	}
	from, values, err := r.newest(l)
	if err != nil {
		op.unknown(err.Error())
		return err
	}
	if !p.sleep(step()) {
		op.unknown("stopped")
		return errDead
	}
	r.publish(l.Epoch(), values)
	op.end(history.Event{Kind: history.OK, Copy: from, Values: history.SetOf(values...)})
	return nil
}
