package fsm

import (
	"errors"
	"fmt"
	"slices"
)

// What can be wrong with an entry or a snapshot. Whoever meets one stops: to
// skip an entry is to diverge.
var (
	// ErrChecksum: the bytes are not those that were written, or never were an
	// entry or a snapshot.
	ErrChecksum = errors.New("checksum mismatch")
	// ErrUnknown: a version or a command that this program doesn't know. A
	// newer one wrote it.
	ErrUnknown = errors.New("unknown to this version of the program")
	// ErrMalformed: the bytes are not what any version of this program writes.
	// An entry's checksum is right then; a snapshot's is at its end and was not
	// reached.
	ErrMalformed = errors.New("malformed")
	// ErrInvariant: the state contradicts itself, or the entries came out of
	// order. The state is of no use any more.
	ErrInvariant = errors.New("violated invariant")
)

// Apply applies the log entry with the given Raft index and appends a [Result]
// for each of its commands to dst, in order. A command that can't be granted,
// or has an invalid value, has a result that says so and never spoils its
// neighbours.
//
// An error means that the node must stop. It is one of [ErrChecksum],
// [ErrUnknown] and [ErrMalformed], and then the state is unchanged; or it is
// [ErrInvariant], and then the state is unusable and stays so, unless only the
// index did not rise, which changes nothing.
func (s *State) Apply(index uint64, entry []byte, dst []Result) ([]Result, error) {
	if s.fault != nil {
		return dst, s.fault
	}
	if index <= s.index {
		return dst, fmt.Errorf("%w: entry %d came after entry %d", ErrInvariant, index, s.index)
	}
	defer s.items.release()
	n, err := s.items.check(entry)
	if err != nil {
		return dst, fmt.Errorf("entry %d: %w", index, err)
	}
	s.index = index
	dst = slices.Grow(dst, n)
	for s.items.rewind(); s.items.next(); {
		dst = append(dst, Result{})
		s.execute(&s.items.item, &dst[len(dst)-1])
	}
	return dst, s.fault
}

// execute applies one command. r is empty.
func (s *State) execute(c *item, r *Result) {
	switch {
	case c.kind == Cluster:
		s.change(&c.settings, r)
	case s.clusterID == "":
		r.Code, r.Reason = Invalid, "invalid cluster: nothing is granted before the entry that founds it"
	case c.kind == Acquire:
		s.acquire(c, r)
	case c.kind == Renew:
		s.renew(c, r)
	case c.kind == Release:
		s.release(c, r)
	case c.kind == Forget:
		s.forget(c, r)
	default:
		s.violated("a command of kind %d was decoded", c.kind)
	}
}
