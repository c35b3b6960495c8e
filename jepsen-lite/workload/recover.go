package workload

import (
	"errors"
	"time"

	"example.com/tenure/holder"
	"example.com/tenure/jepsen-lite/history"
)

var (
	errSealed  = errors.New("the epoch is sealed: a later one has been recovered")
	errForeign = errors.New("a copy or a seal above the own epoch")
)

// recover makes the lease's copy from the newest live one, and writes down
// what came of it.
func (p *Process) recover(l *holder.Lease, step func() time.Duration) error {
	op := p.begin(history.Event{F: history.Recover, Forgotten: l.ForgottenAtEpoch()}, l)
	from, values, err := p.succeed(l, step)
	if err != nil {
		op.unknown(err)
		return err
	}
	op.end(history.Event{Kind: history.OK, Copy: from, Values: values})
	return nil
}

// succeed seals, reads and publishes. It returns the epoch of the copy that it
// read, 0 for none, and what is in it.
func (p *Process) succeed(l *holder.Lease, step func() time.Duration) (from uint64, values history.Set, err error) {
	if !p.sleep(step()) {
		return 0, nil, errDead
	}
	if err := p.seal(l); err != nil {
		return 0, nil, err
	}
	if !p.cfg.Pass(Sealed) || !p.sleep(step()) {
		return 0, nil, errDead
	}
	from, values, err = p.newest(l)
	if err != nil {
		return 0, nil, err
	}
	if !p.cfg.Pass(Copied) || !p.sleep(step()) {
		return 0, nil, errDead
	}
	_, err = p.cfg.Copies.Do(Command{F: Publish, Key: l.Key(), Epoch: l.Epoch(), Values: values})
	return from, values, err
}

// seal seals every epoch below the lease's: nothing older is acknowledged from
// now on.
func (p *Process) seal(l *holder.Lease) error {
	seal, err := p.cfg.Copies.Do(Command{F: Seal, Key: l.Key(), Epoch: l.Epoch()})
	if err == nil && seal.Sealed > l.Epoch() {
		return errForeign
	}
	return err
}

// newest returns the newest live copy and its epoch, 0 for none.
func (p *Process) newest(l *holder.Lease) (uint64, history.Set, error) {
	list, err := p.cfg.Copies.Do(Command{F: List, Key: l.Key()})
	if err != nil {
		return 0, nil, err
	}
	var found uint64
	for _, epoch := range list.Epochs {
		if epoch > l.Epoch() {
			return 0, nil, errForeign
		}
		if l.Live(epoch) {
			found = max(found, epoch)
		}
	}
	if found == 0 {
		return 0, nil, nil
	}
	copied, err := p.cfg.Copies.Do(Command{F: Read, Key: l.Key(), Epoch: found})
	return found, copied.Values, err
}
