package workload

import (
	"errors"
	"math/rand/v2"
	"time"

	"example.com/tenure/holder"
	"example.com/tenure/jepsen-lite/history"
)

var (
	errSealed  = errors.New("the epoch is sealed: a later one has been recovered")
	errForeign = errors.New("a copy or a seal above the own epoch")
)

// copies is the durable layer over the arena's [Copies].
type copies struct {
	*Process
	rng *rand.Rand // of how long each step takes
}

// step lets one step of the layer take its time.
func (c *copies) step() error {
	if !c.sleep(between(c.rng, 200*time.Microsecond, 4*time.Millisecond)) {
		return errDead
	}
	return nil
}

// at comes to a point, and takes the time of a step after it.
func (c *copies) at(point Point) error {
	if !c.cfg.Pass(point) {
		return errDead
	}
	return c.step()
}

// succeed implements durable: it seals, reads and publishes.
func (c *copies) succeed(l *holder.Lease) (from uint64, values history.Set, err error) {
	if err := c.at(Acquired); err != nil {
		return 0, nil, err
	}
	if err := c.seal(l); err != nil {
		return 0, nil, err
	}
	if err := c.at(Sealed); err != nil {
		return 0, nil, err
	}
	from, values, err = c.newest(l)
	if err != nil {
		return 0, nil, err
	}
	if err := c.at(Copied); err != nil {
		return 0, nil, err
	}
	_, err = c.cfg.Copies.Do(Command{F: Publish, Key: l.Key(), Epoch: l.Epoch(), Values: values})
	return from, values, err
}

// seal seals every epoch below the lease's: nothing older is acknowledged from
// now on.
func (c *copies) seal(l *holder.Lease) error {
	seal, err := c.cfg.Copies.Do(Command{F: Seal, Key: l.Key(), Epoch: l.Epoch()})
	if err == nil && seal.Sealed > l.Epoch() {
		return errForeign
	}
	return err
}

// newest returns the newest live copy and its epoch, 0 for none.
func (c *copies) newest(l *holder.Lease) (uint64, history.Set, error) {
	list, err := c.cfg.Copies.Do(Command{F: List, Key: l.Key()})
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
	copied, err := c.cfg.Copies.Do(Command{F: Read, Key: l.Key(), Epoch: found})
	return found, copied.Values, err
}

// put implements durable: it writes to the lease's copy, and then looks
// whether its epoch has been sealed.
func (c *copies) put(l *holder.Lease, value uint64) (sealed uint64, err error) {
	if err := c.at(BeforeWrite); err != nil {
		return 0, err
	}
	if _, err := c.cfg.Copies.Do(Command{F: Write, Key: l.Key(), Epoch: l.Epoch(), Value: value}); err != nil {
		return 0, err
	}
	if err := c.at(AfterWrite); err != nil {
		return 0, err
	}
	seal, err := c.cfg.Copies.Do(Command{F: Look, Key: l.Key()})
	if err == nil && seal.Sealed > l.Epoch() {
		return seal.Sealed, errSealed
	}
	return seal.Sealed, err
}

// read implements durable.
func (c *copies) read(l *holder.Lease) (history.Set, error) {
	copied, err := c.cfg.Copies.Do(Command{F: Read, Key: l.Key(), Epoch: l.Epoch()})
	if err != nil {
		return nil, err
	}
	return copied.Values, c.step()
}

// close implements durable.
func (c *copies) close() {}
