package history

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Never is the instant at which an operation without a known outcome returns,
// and at which a fault that was not healed ends.
const Never = time.Duration(math.MaxInt64)

// A History is what happened in one run.
type History struct {
	Terms  *Terms
	Events []Event // by time
	Ops    []Op    // by invocation
	Faults []Span  // by their beginning
	Torn   bool    // the last line was torn by a crash
}

// An Op is an operation: an invocation and its completion.
type Op struct {
	Invoke   *Event
	Complete *Event // nil if there is none
	Outcome  Kind   // OK, Fail or Info
	Call     time.Duration
	Return   time.Duration // Never if the outcome is unknown
}

// Answered reports when the caller knew the answer, be it only that nothing is
// known; Never if there was no completion.
func (o *Op) Answered() time.Duration {
	if o.Complete == nil {
		return Never
	}
	return o.Complete.T
}

// A Span is a fault from when it was taken to when it was healed.
type Span struct {
	Event    *Event
	From, To time.Duration // To is Never if it was not healed
}

// Ended reports whether the run came to its end.
func (h *History) Ended() bool {
	for i := len(h.Events) - 1; i >= 0; i-- {
		if h.Events[i].Kind == End {
			return true
		}
	}
	return false
}

// Last returns the instant of the last event.
func (h *History) Last() time.Duration { return h.Events[len(h.Events)-1].T }

// PhaseStart returns when a phase began, and whether it did.
func (h *History) PhaseStart(phase string) (time.Duration, bool) {
	for i := range h.Events {
		if h.Events[i].Kind == Phase && h.Events[i].F == phase {
			return h.Events[i].T, true
		}
	}
	return 0, false
}

// ByKey returns the operations of each key, by invocation.
func (h *History) ByKey() map[string][]*Op {
	keys := make(map[string][]*Op)
	for i := range h.Ops {
		o := &h.Ops[i]
		keys[o.Invoke.Key] = append(keys[o.Invoke.Key], o)
	}
	return keys
}

func (h *History) pairOperations() error {
	open := make(map[uint64]int)
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case Invoke:
			if _, again := open[e.ID]; again {
				return &LineError{e.Line, fmt.Errorf("id %d was invoked before", e.ID)}
			}
			open[e.ID] = len(h.Ops)
			h.Ops = append(h.Ops, Op{Invoke: e, Outcome: Info, Call: e.T, Return: Never})
		case OK, Fail, Info:
			at, invoked := open[e.ID]
			if !invoked {
				return &LineError{e.Line, fmt.Errorf("completion of id %d, which was not invoked before it", e.ID)}
			}
			if err := h.Ops[at].complete(e); err != nil {
				return &LineError{e.Line, err}
			}
		}
	}
	return nil
}

func (o *Op) complete(e *Event) error {
	switch {
	case o.Complete != nil:
		return fmt.Errorf("id %d was completed before, in line %d", e.ID, o.Complete.Line)
	case e.F != "" && e.F != o.Invoke.F, e.Key != "" && e.Key != o.Invoke.Key:
		return fmt.Errorf("id %d was invoked as %s of key %q", e.ID, o.Invoke.F, o.Invoke.Key)
	}
	o.Complete, o.Outcome = e, e.Kind
	if e.Kind != Info {
		o.Return = e.T
	}
	if e.Kind == OK {
		return o.validateAnswer()
	}
	return nil
}

// validateAnswer reports an answer that lacks what a checker needs.
func (o *Op) validateAnswer() error {
	switch o.Invoke.F {
	case Acquire:
		return errors.Join(need("epoch", o.Complete.Epoch != 0), need("ttl", o.Complete.TTL > 0))
	case Renew:
		return need("ttl", o.Complete.TTL > 0)
	}
	return nil
}

func (h *History) pairFaults() error {
	open := make(map[uint64]int)
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case Fault:
			if _, again := open[e.ID]; again {
				return &LineError{e.Line, fmt.Errorf("fault %d was taken before", e.ID)}
			}
			open[e.ID] = len(h.Faults)
			h.Faults = append(h.Faults, Span{e, e.T, Never})
		case Heal:
			at, taken := open[e.ID]
			if !taken || h.Faults[at].To != Never {
				return &LineError{e.Line, fmt.Errorf("heal of fault %d, which does not stand", e.ID)}
			}
			h.Faults[at].To = e.T
		}
	}
	return nil
}
