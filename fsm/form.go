package fsm

import (
	"fmt"
	"time"
)

// EntryVersion is the version of the encoding that AppendEntry writes and
// Apply reads.
//
// An entry is the version byte, the owners that its commands name, the commands
// in runs, and the CRC32C of all that, least byte first. All numbers are
// minimal varints.
//
//	entry  = version owners run* crc
//	owners = count (length bytes)*       in order of their bytes, each once
//	run    = form count [owner] [ttl] [marker] item*count
//
// A run is a longest sequence of commands that agree in all that its head
// says: form, owner (its place among the owners), TTL in milliseconds, number
// of the restore marker. See [form] for what the items are. So there is one
// encoding of any commands, and every other is refused.
//
// Whatever the version, an entry ends with this checksum.
const EntryVersion = 1

// MaxCommands is how many commands an entry can have.
const MaxCommands = 1 << 16

// A form is what a command looks like in an entry.
type form uint8

const (
	acquireFree    form = iota + 1 // key, request id
	acquireExpired                 // key, request id, evidence: epoch, grant index less that of the item before
	acquireMarked                  // key, request id; the evidence is the restore marker in the run's head
	renewKey                       // key, epoch
	renewNumber                    // numbers by stretches, see [stretch]
	releaseKey                     // key, epoch
	releaseRequest                 // key, request id
	releaseNumber                  // numbers
	forgetKey                      // key, epoch
	forgetNumber                   // numbers
	changeCluster                  // cluster id, largest TTL, marker to clear, 1 to resume the floor
	formEnd
)

// A shape says what a form's head and items hold.
type shape struct {
	kind               Kind
	owner, ttl, number bool
}

var shapes = [formEnd]shape{
	acquireFree:    {kind: Acquire, owner: true, ttl: true},
	acquireExpired: {kind: Acquire, owner: true, ttl: true},
	acquireMarked:  {kind: Acquire, owner: true, ttl: true},
	renewKey:       {kind: Renew, owner: true, ttl: true},
	renewNumber:    {kind: Renew, ttl: true, number: true},
	releaseKey:     {kind: Release, owner: true},
	releaseRequest: {kind: Release, owner: true},
	releaseNumber:  {kind: Release, number: true},
	forgetKey:      {kind: Forget, owner: true},
	forgetNumber:   {kind: Forget, number: true},
	changeCluster:  {kind: Cluster},
}

// A head is what the items of a run share.
type head struct {
	form   form
	owner  uint64 // its place among the entry's owners
	ttl    uint64 // milliseconds
	marker uint64
}

// formOf returns the form in which a command is written.
func formOf(c *Command) (form, error) {
	byNumber := c.Number != (Number{})
	switch {
	case c.Kind == Acquire && c.Evidence == (Evidence{}):
		return acquireFree, nil
	case c.Kind == Acquire && c.Evidence.Marker == 0:
		return acquireExpired, nil
	case c.Kind == Acquire && c.Evidence == (Evidence{Marker: c.Evidence.Marker}):
		return acquireMarked, nil
	case c.Kind == Acquire:
		return 0, fmt.Errorf("acquire of %q: its evidence names a tenure and the restore marker", c.Key)
	case c.Kind == Cluster:
		return changeCluster, nil
	case byNumber && c.Number.Serial == 0:
		return 0, fmt.Errorf("number %v: the serial must not be 0", c.Number)
	case c.Kind == Renew && byNumber:
		return renewNumber, nil
	case c.Kind == Renew:
		return renewKey, nil
	case c.Kind == Release && byNumber:
		return releaseNumber, nil
	case c.Kind == Release && c.Epoch == 0 && c.RequestID != "":
		return releaseRequest, nil
	case c.Kind == Release:
		return releaseKey, nil
	case c.Kind == Forget && byNumber:
		return forgetNumber, nil
	case c.Kind == Forget:
		return forgetKey, nil
	}
	return 0, fmt.Errorf("%w: command of kind %d", ErrUnknown, c.Kind)
}

// wholeMilliseconds returns a TTL as an entry has it.
func wholeMilliseconds(ttl time.Duration) (uint64, error) {
	if ttl < 0 || ttl%time.Millisecond != 0 {
		return 0, fmt.Errorf("ttl %v: must be a whole number of milliseconds from 0", ttl)
	}
	return uint64(ttl / time.Millisecond), nil
}
