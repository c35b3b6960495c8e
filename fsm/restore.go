package fsm

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"example.com/tenure"
)

// Restore reads a snapshot to the end of r and returns the state that it was
// taken of. What the state is depends on the snapshot alone.
//
// It checks all it reads, last of all the checksums of the file and of the
// state. An error says what is wrong with which record, and is one of
// [ErrChecksum], [ErrUnknown] and [ErrMalformed], or comes from r. What a bad
// snapshot makes it allocate is bounded by 20 MB, and a page of 20 KB for each
// record that there is.
func Restore(r io.Reader, options ...Option) (*State, error) {
	in := &restoring{source: newSource(r), state: New(options...)}
	if err := in.readAll(); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return in.state, nil
}

// A restoring is a state on its way from a snapshot.
type restoring struct {
	*source
	state  *State
	owners []string // in order of their first record

	key   [tenure.MaxKeyBytes]byte
	owner [tenure.MaxOwnerBytes]byte
	id    [tenure.MaxRequestIDBytes]byte
}

func (in *restoring) readAll() error {
	if err := in.readGlobals(); err != nil {
		return err
	}
	last := int64(-1)
	for in.err == nil {
		next := in.uvarint()
		if next == 0 {
			break
		}
		if next > uint64(MaxRecords-1-last) {
			in.fail("slot %d after the one before: at most %d are allowed", next, MaxRecords)
			break
		}
		last += int64(next)
		if err := in.readRecord(uint32(last)); err != nil {
			return fmt.Errorf("record at slot %d: %w", last, err)
		}
	}
	return in.readChecksums()
}

func (in *restoring) readGlobals() error {
	var start [len(magic)]byte
	if string(in.bytes(start[:])) != magic && in.err == nil {
		return fmt.Errorf("%w: it doesn't start like one", ErrChecksum)
	}
	if version := in.byte(); version != SnapshotVersion && in.err == nil {
		return fmt.Errorf("%w: it is of version %d, this program knows %d", ErrUnknown, version, SnapshotVersion)
	}
	g := &in.state.globals
	g.clusterID = string(in.text(in.id[:]))
	g.largest = in.duration(in.uvarint(), tenure.MaxTTL)
	g.window = in.duration(in.uvarint(), tenure.MaxTTL)
	g.index, g.serials, g.floor, g.base = in.uvarint(), in.uvarint(), in.uvarint(), in.uvarint()
	flags := in.byte()
	g.marked, g.frozen = flags&flagMarked != 0, flags&flagFrozen != 0
	founded := g.clusterID != ""
	switch {
	case founded && (ValidateClusterID(g.clusterID) != nil || g.largest < tenure.MinTTL):
		in.fail("cluster id %q with a largest ttl of %v", g.clusterID, g.largest)
	case !founded && (g.largest != 0 || g.serials != 0 || g.floor != 0 || g.base != 0):
		in.fail("a cluster without an id that has granted something")
	case flags >= flagEnd, (flags != 0 || g.window != 0) && g.base == 0:
		in.fail("flags %#x and window %v with epoch base %d", flags, g.window, g.base)
	case g.floor > tenure.MaxEpoch || g.base > tenure.MaxEpoch:
		in.fail("forgotten floor %d, epoch base %d: at most %d is allowed", g.floor, g.base, uint64(tenure.MaxEpoch))
	}
	return in.err
}

// readRecord reads a record after its slot.
func (in *restoring) readRecord(slot uint32) error {
	var t texts
	var e epochs
	var g grant
	t.key = in.text(in.key[:])
	e.epoch = in.uvarint()
	e.forgotten = e.epoch - in.uvarint()
	t.owner = in.readOwner()
	t.id = in.text(in.id[:])
	e.serial = in.uvarint()
	if ago := in.uvarint(); ago != 0 {
		g.index = in.state.index - (ago - 1)
		g.ttl = milliseconds(in.duration(in.uvarint(), in.state.largest))
	}
	if in.err == nil {
		in.checkRecord(t, e, g)
	}
	if in.err == nil {
		in.state.slots.takeAt(slot)
		in.state.create(slot, t, e, g)
	}
	return in.err
}

func (in *restoring) readOwner() []byte {
	at := in.uvarint()
	switch {
	case at < uint64(len(in.owners)):
		return append(in.owner[:0], in.owners[at]...)
	case at > uint64(len(in.owners)):
		in.fail("owner %d of %d", at, len(in.owners))
		return nil
	}
	owner := in.text(in.owner[:])
	if _, known := in.state.owners.find(owner); known {
		in.fail("owner %q is listed twice", owner)
	}
	in.owners = append(in.owners, string(owner))
	return owner
}

func (in *restoring) checkRecord(t texts, e epochs, g grant) {
	s := in.state
	err := validateTexts(t)
	if err == nil {
		err = tenure.ValidateEpoch(e.epoch)
	}
	if err != nil {
		in.fail("%w", err)
		return
	}
	_, known := s.find(t.key)
	switch {
	case known:
		in.fail("a second record of key %q", t.key)
	case e.forgotten > e.epoch:
		in.fail("forgotten epoch %d of epoch %d", e.forgotten, e.epoch)
	case e.serial == 0 || e.serial > s.serials:
		in.fail("tenure %d of %d", e.serial, s.serials)
	case g.index > s.index || (g.index == 0) != (g.ttl == 0):
		in.fail("grant index %d with ttl %v, after entry %d", g.index, g.duration(), s.index)
	case g.ttl != 0 && g.duration() < tenure.MinTTL:
		in.fail("ttl %v: at least %v is allowed", g.duration(), tenure.MinTTL)
	case g.index != 0 && s.marked:
		in.fail("a tenure that stands beside the restore marker")
	}
}

func (in *restoring) readChecksums() error {
	var words [12]byte
	checksum := binary.LittleEndian.Uint64(in.bytes(words[:8]))
	sum := in.sum()
	stored := binary.LittleEndian.Uint32(in.bytes(words[8:]))
	switch {
	case in.err != nil:
		return in.err
	case sum != stored:
		return fmt.Errorf("%w: of the file it is %08x, and %08x is stored", ErrChecksum, sum, stored)
	case in.state.Checksum() != checksum:
		return fmt.Errorf("%w: of the state it is %016x, and %016x is stored", ErrChecksum, in.state.Checksum(), checksum)
	case !in.atEnd():
		in.fail("it goes on after its end")
		return in.err
	}
	return nil
}

// duration returns so many milliseconds, at most the given.
func (s *source) duration(ms uint64, most time.Duration) time.Duration {
	if ms > uint64(most/time.Millisecond) {
		s.fail("a ttl of %d ms: at most %v is allowed", ms, most)
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}
