package workload

import (
	"example.com/tenure/holder"
	"example.com/tenure/jepsen-lite/history"
)

// An operation is one on a durable copy, as it is written down.
type operation struct {
	process *Process
	id      uint64
}

func (p *Process) begin(e history.Event, l *holder.Lease) operation {
	op := operation{p, p.cfg.Journal.NextID()}
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
func (o operation) unknown(why error) {
	o.end(history.Event{Kind: history.Info, Err: why.Error()})
}
