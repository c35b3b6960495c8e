package leader

import (
	"fmt"

	"example.com/tenure"
	"example.com/tenure/fsm"
	"example.com/tenure/node/internal/machine"
)

var errLinesFull = &tenure.UnavailableError{Reason: fmt.Sprintf("the lines of the leader hold %d waiters already", MaxWaiting)}

// errStands is for one who does not wait, or not any more, while another request
// under the same id does.
var errStands = &tenure.UnavailableError{MaybeApplied: true, Reason: "an acquire under this id still stands in line: try again, or wait, under the same id"}

// settle gives out what became of an entry.
func (s *Sequencer) settle(e *entry, o Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.Applied == nil || len(o.Applied.Results) != len(e.commands) {
		s.settleUnknown(e, o)
		return
	}
	for i := range e.commands {
		s.settleOne(e.sources[i], &e.commands[i], &o.Applied.Results[i])
	}
	for _, r := range e.refused {
		r.of.req.answer(r.of.item, tenure.Result{Err: heldNow(r.held)})
	}
	for _, req := range e.reads {
		req.finish(o.Applied.Index, nil)
	}
}

func (s *Sequencer) settleOne(from source, c *fsm.Command, r *fsm.Result) {
	switch {
	case from.place != nil:
		s.settlePlace(from.place, c, r)
	case from.req != nil:
		from.req.answer(from.item, s.result(c, r))
	}
	if r.Code == fsm.Released {
		s.lines.wakeKey(c.Key)
	}
}

// settlePlace answers a place at the head of its line. One whose takeover lost
// to a renewal stays the head.
func (s *Sequencer) settlePlace(p *place, c *fsm.Command, r *fsm.Result) {
	p.inFlight = false
	if r.Code == fsm.Held && len(p.askers) > 0 {
		s.lines.wake(p.line)
		return
	}
	result := s.result(c, r)
	for _, a := range p.askers {
		s.lines.agenda.drop(a.end)
		a.req.answer(a.item, result)
	}
	s.lines.remove(p)
}

// settleUnknown answers for an entry without results. Those in line keep their
// places if they surely were not proposed; if the leadership is over, close
// answers them.
func (s *Sequencer) settleUnknown(e *entry, o Outcome) {
	err := &tenure.UnavailableError{MaybeApplied: o.MaybeApplied || o.Err == nil, Reason: "the leader could not commit it", Err: o.Err}
	for i := range e.commands {
		from, c := e.sources[i], &e.commands[i]
		switch {
		case from.place != nil:
			s.settlePlaceUnknown(from.place, c, err)
		case from.req != nil:
			from.req.answer(from.item, unavailable(c, err))
		}
	}
	// These were not proposed: an entry only confirms them.
	unproposed := &tenure.UnavailableError{Reason: err.Reason, Err: err.Err}
	for _, r := range e.refused {
		r.of.req.answer(r.of.item, unavailable(r.of.req.command(r.of.item), unproposed))
	}
	for _, req := range e.reads {
		req.finish(0, unproposed)
	}
}

func (s *Sequencer) settlePlaceUnknown(p *place, c *fsm.Command, err *tenure.UnavailableError) {
	p.inFlight = false
	if !err.MaybeApplied && len(p.askers) > 0 {
		s.lines.wake(p.line)
		return
	}
	for _, a := range p.askers {
		s.lines.agenda.drop(a.end)
		a.req.answer(a.item, unavailable(c, err))
	}
	s.lines.remove(p)
}

// result turns the state machine's answer into the vocabulary's.
func (s *Sequencer) result(c *fsm.Command, r *fsm.Result) tenure.Result {
	switch r.Code {
	case fsm.Renewed:
		return tenure.Result{Grant: tenure.Grant{TTL: r.TTL, Index: r.GrantIndex, Record: tenure.Record{
			Key: c.Key, Owner: c.Owner, Epoch: r.Record.Epoch, ForgottenAtEpoch: r.Record.ForgottenAtEpoch, Held: true,
		}}}
	case fsm.Granted, fsm.Released, fsm.Forgotten:
		return tenure.Result{Grant: tenure.Grant{Record: r.Record, TTL: r.TTL, Index: r.GrantIndex}}
	case fsm.Held:
		return tenure.Result{Err: s.held(r)}
	case fsm.Lost:
		return tenure.Result{Err: s.lost(c, r)}
	default:
		return tenure.Result{Err: s.invalid(c, r)}
	}
}

// invalid says what the state machine found malformed: what the boundary could
// not know, since it depends on the cluster.
func (s *Sequencer) invalid(c *fsm.Command, r *fsm.Result) error {
	_, largest := s.cfg.Machine.Cluster()
	if c.Kind == fsm.Acquire || c.Kind == fsm.Renew {
		if err, ok := tenure.ValidateTTL(c.TTL, largest).(*tenure.InvalidError); ok {
			err.Key = c.Key
			return err
		}
	}
	return &tenure.InvalidError{Key: c.Key, Field: "command", Value: "(" + r.Reason + ")", Bound: "one that the log can take"}
}

// held tells of the tenure that refused an acquire, and how long it has left as
// this leader judges. Where a restore marker did, no owner is known.
func (s *Sequencer) held(r *fsm.Result) error {
	j := s.cfg.Machine.Judge(r.Record.Key)
	switch {
	case j.Record.Epoch != r.Record.Epoch:
		return &tenure.HeldError{Record: r.Record, Remaining: r.TTL}
	case r.Record.Owner != "" && !j.Record.Held: // released later in the same entry
		return &tenure.HeldError{Record: r.Record}
	}
	return heldNow(j)
}

func heldNow(j machine.Judgement) error {
	return &tenure.HeldError{Record: j.Record, Remaining: j.Remaining}
}

func (s *Sequencer) lost(c *fsm.Command, r *fsm.Result) error {
	now := r.Record
	if now.Key == "" {
		now = s.cfg.Machine.Judge(c.Key).Record
	}
	return &tenure.LostError{Key: c.Key, Owner: c.Owner, Epoch: c.Epoch, RequestID: c.RequestID, Record: now}
}

// unavailable is err for one command.
func unavailable(c *fsm.Command, err *tenure.UnavailableError) tenure.Result {
	of := *err
	of.Key = c.Key
	return tenure.Result{Err: &of}
}
