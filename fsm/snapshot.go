package fsm

import "slices"

// SnapshotVersion is the version of the encoding that [Snapshot.WriteTo] writes
// and [Restore] reads. Numbers are minimal varints.
//
//	snapshot = magic version globals record* 0 checksum crc
//	globals  = cluster id, largest TTL and marker's window in milliseconds,
//	           index of the newest entry, tenures so far, forgotten floor,
//	           epoch base, flags
//	record   = slot less that of the record before (from -1), key, epoch, epoch
//	           less forgotten epoch, owner, request id, serial, grant
//	owner    = its place among the owners so far [length bytes, if it is the next]
//	grant    = 0 if no tenure stands, else
//	           index of the newest entry less grant index, plus 1; TTL in milliseconds
//
// The records are in order of their slots. The checksum is the state's
// ([State.Checksum]) and the CRC32C is of all bytes before it; both have their
// least byte first. So equal states have equal snapshots.
const SnapshotVersion = 1

const magic = "tenure state\n"

// Bits of a snapshot's flags.
const (
	flagMarked = 1 << iota
	flagFrozen
	flagEnd
)

// A Snapshot is what a state was at one moment. It can be written on another
// goroutine while the state goes on.
type Snapshot struct {
	globals
	table
	names    names
	checksum uint64
	released bool
}

// Snapshot returns what the state is now. It is of use only as long as Apply
// works: a state with a violated invariant must not outlive the node. It copies no records, only where
// their pages are: 4,000 pages at a million records. Afterwards the first
// change of each page copies it, once.
func (s *State) Snapshot() *Snapshot {
	sn := &Snapshot{
		globals:  s.globals,
		table:    table{pages: slices.Clone(s.pages)},
		names:    slices.Clone(s.owners.names),
		checksum: s.Checksum(),
	}
	s.generation++
	s.owners.generation++
	return sn
}

// Release lets go of what the snapshot holds, when it was written or given up.
// It must not run at the same time as WriteTo, and needs no other care: it
// doesn't touch the state.
func (sn *Snapshot) Release() {
	*sn = Snapshot{released: true}
}
