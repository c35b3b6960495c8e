package node

import (
	"fmt"
	"time"

	"example.com/tenure"
	"example.com/tenure/fsm"
	"example.com/tenure/node/internal/leader"
)

// A batch is the commands of one call, as they go over the wire and into the
// log.
type batch struct {
	commands []fsm.Command
	waits    []time.Duration // of acquires; nil if none waits
}

func (b batch) wait(item int) time.Duration {
	if b.waits == nil {
		return 0
	}
	return b.waits[item]
}

// mixed reports whether acquires, which may stand in line, come together with
// other commands: no caller of ours makes such a batch.
func (b batch) mixed() bool {
	for i := range b.commands {
		if (b.commands[i].Kind == fsm.Acquire) != (b.commands[0].Kind == fsm.Acquire) {
			return true
		}
	}
	return false
}

// pick returns the commands at the given places, in that order.
func (b batch) pick(items []int) batch {
	if len(items) == len(b.commands) {
		return b
	}
	out := batch{commands: make([]fsm.Command, len(items))}
	for i, item := range items {
		out.commands[i] = b.commands[item]
	}
	if b.waits != nil {
		out.waits = make([]time.Duration, len(items))
		for i, item := range items {
			out.waits[i] = b.waits[item]
		}
	}
	return out
}

func acquireBatch(req tenure.AcquireRequest) batch {
	b := batch{commands: make([]fsm.Command, len(req.Asks))}
	for i, a := range req.Asks {
		b.commands[i] = fsm.Command{Kind: fsm.Acquire, Key: a.Key, Owner: req.Owner, RequestID: a.RequestID, TTL: a.TTL}
		if a.Wait != 0 && b.waits == nil {
			b.waits = make([]time.Duration, len(req.Asks))
		}
		if a.Wait != 0 {
			b.waits[i] = a.Wait
		}
	}
	return b
}

func renewBatch(req tenure.RenewRequest) batch {
	b := batch{commands: make([]fsm.Command, len(req.Renewals))}
	for i, r := range req.Renewals {
		b.commands[i] = fsm.Command{Kind: fsm.Renew, Key: r.Key, Owner: req.Owner, Epoch: r.Epoch, TTL: r.TTL}
	}
	return b
}

func forgetBatch(req tenure.ForgetRequest) batch {
	b := batch{commands: make([]fsm.Command, len(req.Tenures))}
	for i, t := range req.Tenures {
		b.commands[i] = fsm.Command{Kind: fsm.Forget, Key: t.Key, Owner: req.Owner, Epoch: t.Epoch}
	}
	return b
}

// releaseBatch returns the commands of a release and, for each ending, the
// place of its release command: a forget goes right before it.
func releaseBatch(req tenure.ReleaseRequest) (b batch, at []int) {
	for _, e := range req.Endings {
		if req.Forget && e.Epoch != 0 {
			b.commands = append(b.commands, fsm.Command{Kind: fsm.Forget, Key: e.Key, Owner: req.Owner, Epoch: e.Epoch})
		}
		at = append(at, len(b.commands))
		b.commands = append(b.commands, fsm.Command{Kind: fsm.Release, Key: e.Key, Owner: req.Owner, Epoch: e.Epoch, RequestID: e.RequestID})
	}
	return b, at
}

// unit returns the end of the commands from i on that go as one: one command, or
// the two of a release that also forgets. They are sent, answered and repeated as
// one, as the leader puts them into one entry.
func (b batch) unit(i int) (end int) {
	if i+1 < len(b.commands) && leader.Together(&b.commands[i], &b.commands[i+1]) {
		return i + 2
	}
	return i + 1
}

// checkUnit returns what is wrong with the commands from i to end, which are
// refused as one.
func (b batch) checkUnit(i, end int, largest time.Duration) error {
	for ; i < end; i++ {
		if err := check(&b.commands[i], b.wait(i), largest); err != nil {
			return err
		}
	}
	return nil
}

// check validates a command at the boundary. largest is the largest TTL of the
// cluster as far as it is known here; the state machine has the last word.
func check(c *fsm.Command, wait, largest time.Duration) error {
	err := tenure.ValidateKey(c.Key)
	if err != nil {
		return err
	}
	if err = tenure.ValidateOwner(c.Owner); err == nil {
		err = checkKind(c, wait, largest)
	}
	if invalid, ok := err.(*tenure.InvalidError); ok {
		invalid.Key = c.Key
	}
	return err
}

func checkKind(c *fsm.Command, wait, largest time.Duration) error {
	switch c.Kind {
	case fsm.Acquire:
		if err := tenure.ValidateRequestID(c.RequestID); err != nil {
			return err
		}
		if err := tenure.ValidateWait(wait); err != nil {
			return err
		}
		return tenure.ValidateTTL(c.TTL, largest)
	case fsm.Renew:
		if err := tenure.ValidateEpoch(c.Epoch); err != nil {
			return err
		}
		return tenure.ValidateTTL(c.TTL, largest)
	case fsm.Release:
		if c.RequestID != "" && c.Epoch == 0 {
			return tenure.ValidateRequestID(c.RequestID)
		}
		if c.RequestID != "" {
			return &tenure.InvalidError{Field: "request_id", Value: fmt.Sprintf("%.64q", c.RequestID), Bound: "left out where an epoch names the tenure"}
		}
	}
	return tenure.ValidateEpoch(c.Epoch)
}
