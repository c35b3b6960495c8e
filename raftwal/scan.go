package raftwal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The format of a segment, as far as it has to be known to tell a write that
// was interrupted from damage: a head, then batches of frames. A frame begins
// with its kind, three zeros, and its length (of a commit, the CRC-32C of the
// batch, which covers the head as well for the first one), least byte first,
// and is filled up to a multiple of frameAlign.
const (
	segmentHead = 32
	frameAlign  = 8
	sector      = 512

	entryFrame  = 1
	indexFrame  = 2
	commitFrame = 3
)

// A scan is what a segment holds.
type scan struct {
	end     int    // of the last whole batch; 0 if there is none
	entries uint64 // in whole batches
	index   int    // where the index is, if a whole batch ends the segment with one; else 0
}

// A batch is a run of frames that a commit ends.
type batch struct {
	end     int // behind the commit, or where there is no frame
	entries uint64
	index   int
	whole   bool // its commit is there, and right
	commit  bool // its commit is there
	cut     bool // it reaches beyond the end of the file
}

// scanSegment reads all whole batches of the segment that is written to. What
// comes behind them must be what an interrupted write leaves.
func scanSegment(b []byte) (scan, error) {
	var s scan
	for first := true; ; first = false {
		next := readBatch(b, s.end, first)
		if !next.whole {
			return s, checkInterrupted(b, s.end, next)
		}
		if s.index != 0 {
			return s, errors.New("it goes on behind its index")
		}
		s.end, s.entries, s.index = next.end, s.entries+next.entries, next.index
	}
}

// readBatch reads the batch at an offset.
func readBatch(b []byte, from int, first bool) (found batch) {
	at := from
	if first {
		at = min(segmentHead, len(b))
	}
	for at+frameAlign <= len(b) {
		kind, size := b[at], int(binary.LittleEndian.Uint32(b[at+4:]))
		if kind == commitFrame && isFrame(b[at:]) {
			found.end, found.commit = at+frameAlign, true
			found.whole = crc32.Checksum(b[from:at], castagnoli) == uint32(size)
			return found
		}
		after := at + frameAlign + (size+frameAlign-1)/frameAlign*frameAlign
		if found.cut = isFrame(b[at:]) && after > len(b); found.cut || !isFrame(b[at:]) {
			break
		}
		if kind == indexFrame {
			found.index = at + frameAlign
		} else {
			found.entries++
		}
		at = after
	}
	found.end = at
	return found
}

func isFrame(b []byte) bool {
	return b[0] >= entryFrame && b[0] <= commitFrame && b[1] == 0 && b[2] == 0 && b[3] == 0
}

// checkInterrupted reports what can't be the work of an interrupted write. Only
// one batch is written at a time, so no whole one comes behind a broken one; and
// it is broken because a sector of it, which was zero, was not written, or the
// file did not grow to hold it.
func checkInterrupted(b []byte, from int, broken batch) error {
	for at := from + frameAlign; at+frameAlign <= len(b); at += frameAlign {
		if isFrame(b[at:]) && readBatch(b, at, false).whole {
			return fmt.Errorf("what begins at byte %d can't be read, though a whole batch begins at byte %d", from, at)
		}
	}
	if broken.cut || isZero(b[from:]) || hasZeroSector(b, from, broken.end) {
		return nil
	}
	if broken.commit {
		return fmt.Errorf("the checksum of what begins at byte %d does not match", from)
	}
	return fmt.Errorf("there is no frame at byte %d", broken.end)
}

// hasZeroSector reports whether a sector that a batch reaches into, or the one
// in which the frame would begin that it lacks, was not written.
func hasZeroSector(b []byte, from, end int) bool {
	for end = min(end+1, len(b)); from < end; {
		next := min((from/sector+1)*sector, len(b))
		if isZero(b[from:next]) {
			return true
		}
		from = next
	}
	return false
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
