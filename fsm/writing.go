package fsm

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"time"
)

// writeBytes is how much of a snapshot is gathered before it is written.
const writeBytes = 64 << 10

// WriteTo writes the snapshot, at the same time as the state goes on, and
// returns how many bytes it wrote. After an error from w nothing more is
// written. A snapshot can be written again until it is released.
func (sn *Snapshot) WriteTo(w io.Writer) (int64, error) {
	if sn.released {
		return 0, errors.New("the snapshot was released")
	}
	t := writing{w: w, seen: make([]uint64, len(sn.names)*pageSize)}
	t.buffer = sn.appendGlobals(t.buffer)
	last := int64(-1)
	for slot := range uint32(len(sn.pages)) * pageSize {
		if _, r := sn.at(slot); r == nil {
			continue
		}
		if t.err != nil {
			break
		}
		t.buffer = binary.AppendUvarint(t.buffer, uint64(int64(slot)-last))
		last = int64(slot)
		sn.appendRecord(&t, slot)
		t.flush(writeBytes)
	}
	t.buffer = append(t.buffer, 0)
	t.buffer = binary.LittleEndian.AppendUint64(t.buffer, sn.checksum)
	t.flush(0)
	t.buffer = binary.LittleEndian.AppendUint32(t.buffer, t.crc)
	t.flush(0)
	return t.n, t.err
}

// A writing is where a snapshot is on its way to w.
type writing struct {
	w      io.Writer
	buffer []byte
	n      int64
	crc    uint32
	err    error

	seen   []uint64 // by owner: its place among the owners so far, plus 1
	owners uint64   // so far
}

// flush writes what was gathered if it is at least so much. After an error it
// only throws it away.
func (t *writing) flush(least int) {
	if len(t.buffer) < least {
		return
	}
	if t.err == nil {
		t.crc = crc32.Update(t.crc, castagnoli, t.buffer)
		var n int
		n, t.err = t.w.Write(t.buffer)
		t.n += int64(n)
	}
	t.buffer = t.buffer[:0]
}

func (g *globals) appendGlobals(out []byte) []byte {
	out = append(append(out, magic...), SnapshotVersion)
	out = appendText(out, g.clusterID)
	out = binary.AppendUvarint(out, uint64(g.largest/time.Millisecond))
	out = binary.AppendUvarint(out, uint64(g.window/time.Millisecond))
	for _, number := range [...]uint64{g.index, g.serials, g.floor, g.base} {
		out = binary.AppendUvarint(out, number)
	}
	return append(out, byte(flagMarked*bit(g.marked)|flagFrozen*bit(g.frozen)))
}

// appendRecord appends the record in a slot that is in use, after the slot.
func (sn *Snapshot) appendRecord(t *writing, slot uint32) {
	r := sn.row(slot)
	out := appendText(t.buffer, sn.key(slot))
	out = binary.AppendUvarint(out, r.epoch)
	out = binary.AppendUvarint(out, r.epoch-r.forgotten)
	if t.seen[r.owner] == 0 {
		out = binary.AppendUvarint(out, t.owners)
		out = appendText(out, sn.names.name(r.owner))
		t.owners++
		t.seen[r.owner] = t.owners
	} else {
		out = binary.AppendUvarint(out, t.seen[r.owner]-1)
	}
	out = appendText(out, sn.id(slot))
	out = binary.AppendUvarint(out, r.serial)
	if g := sn.grant(slot); g.index == 0 {
		out = append(out, 0)
	} else {
		out = binary.AppendUvarint(out, sn.index-g.index+1)
		out = binary.AppendUvarint(out, uint64(g.ttl))
	}
	t.buffer = out
}
