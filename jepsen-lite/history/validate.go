package history

import (
	"errors"
	"fmt"
	"slices"
)

// validate reports an event that lacks what its kind must say.
func (e *Event) validate() error {
	if e.T < 0 {
		return fmt.Errorf("t %d must not be negative", e.T)
	}
	check, known := checks[e.Kind]
	if !known {
		return fmt.Errorf("unknown kind %q", e.Kind)
	}
	if check == nil {
		return nil
	}
	if err := check(e); err != nil {
		return fmt.Errorf("%s event: %w", e.Kind, err)
	}
	return nil
}

// checks are the rules of each kind. A completion repeats what its invocation
// said, so that a line read alone makes sense; the invocation's counts.
var checks = map[Kind]func(*Event) error{
	Run: func(e *Event) error {
		if e.Terms == nil {
			return errors.New("terms are missing")
		}
		return e.Terms.validate()
	},
	Phase:    func(e *Event) error { return oneOf("f", e.F, PhaseSafety, PhaseLiveness) },
	Invoke:   (*Event).validateOperation,
	OK:       func(e *Event) error { return need("id", e.ID != 0) },
	Fail:     func(e *Event) error { return errors.Join(need("id", e.ID != 0), need("err", e.Err != "")) },
	Info:     func(e *Event) error { return need("id", e.ID != 0) },
	Hold:     (*Event).validateTenure,
	Gate:     func(e *Event) error { return errors.Join(e.validateTenure(), within("n", e.N, 0, 2)) },
	Ack:      func(e *Event) error { return errors.Join(e.validateTenure(), need("value", e.Value != 0)) },
	Stop:     (*Event).validateTenure,
	Fault:    func(e *Event) error { return errors.Join(need("f", e.F != ""), need("id", e.ID != 0)) },
	Heal:     func(e *Event) error { return need("id", e.ID != 0) },
	Leader:   func(e *Event) error { return errors.Join(need("node", e.Node != ""), need("term", e.Term != 0)) },
	Snapshot: func(e *Event) error { return errors.Join(need("node", e.Node != ""), need("index", e.Index != 0)) },
	Log: func(e *Event) error {
		named := e.F == Cluster || e.Number != 0 || e.Key != "" && e.Owner != ""
		return errors.Join(need("index", e.Index != 0), need("key and owner, or number", named),
			oneOf("f", e.F, Acquire, Renew, Release, Forget, Cluster))
	},
	Watch: func(e *Event) error {
		index := e.Index != 0 || e.F == Began || e.F == Stood // of a node that has applied nothing yet
		return errors.Join(need("client", e.Client != ""), need("node", e.Node != ""), need("index", index),
			oneOf("f", e.F, Granted, Released, Forgotten, Missed, Began, Stood))
	},
	Sum: func(e *Event) error {
		return errors.Join(need("node", e.Node != ""), need("index", e.Index != 0), need("sum", e.Sum != ""))
	},
	Breach: func(e *Event) error { return errors.Join(need("node", e.Node != ""), need("msg", e.Msg != "")) },
	Leak:   func(e *Event) error { return errors.Join(need("f", e.F != ""), within("n", e.N, 0, 1<<30)) },
	Note:   nil,
	End:    nil,
}

func (e *Event) validateOperation() error {
	err := errors.Join(need("id", e.ID != 0), need("key", e.Key != ""),
		oneOf("f", e.F, Acquire, Renew, Release, Forget, Get, Owner, Write, Read, Recover, Put, List))
	switch e.F {
	case Acquire:
		err = errors.Join(err, need("owner", e.Owner != ""), need("req", e.Req != ""), need("ttl", e.TTL > 0))
	case Renew:
		err = errors.Join(err, e.validateTenure(), need("ttl", e.TTL > 0))
	case Forget, Read, Recover:
		err = errors.Join(err, e.validateTenure())
	case Release:
		err = errors.Join(err, need("owner", e.Owner != ""), need("epoch or req", (e.Epoch != 0) != (e.Req != "")))
	case Write:
		err = errors.Join(err, e.validateTenure(), need("value", e.Value != 0))
	case Put:
		err = errors.Join(err, need("node", e.Node != ""), need("value", e.Value != 0))
	}
	return err
}

func (e *Event) validateTenure() error {
	return errors.Join(need("key", e.Key != ""), need("owner", e.Owner != ""), need("epoch", e.Epoch != 0))
}

func need(field string, there bool) error {
	if !there {
		return fmt.Errorf("%s is missing", field)
	}
	return nil
}

func oneOf(field, value string, allowed ...string) error {
	if !slices.Contains(allowed, value) {
		return fmt.Errorf("%s %q must be one of %q", field, value, allowed)
	}
	return nil
}

func within(field string, value, low, high int) error {
	if value < low || value > high {
		return fmt.Errorf("%s %d must be from %d to %d", field, value, low, high)
	}
	return nil
}
