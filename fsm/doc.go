// Package fsm is the pure state machine of the lease cluster: commands, their
// encoding, their effect on the state, and the snapshot.
//
// # What it guarantees
//
//   - A key has at most one tenure that stands, and the epochs of a key only
//     rise from tenure to tenure, whatever was forgotten, dropped or restored.
//   - A key's forgotten epoch never goes down.
//   - A tenure is taken over only by an acquire that names the epoch and the
//     grant index which stand at that moment.
//   - The same log gives the same state, byte for byte: on every node, in every
//     run, with a restored snapshot in between or not. [State.Checksum] tells
//     whether it did.
//   - Every command of an entry has a result, and one that is refused or invalid
//     changes nothing and does its neighbours no harm.
//   - An entry that this program doesn't know, or that is not what was written,
//     is an error and changes nothing. It is never skipped.
//
// # What it assumes
//
// Entries come in the order of their indexes, each once, and are the same on
// every node: that is Raft's part. Whoever proposes an acquire with evidence has
// judged by its own clock that the tenure has expired: here nothing expires.
// One goroutine at a time changes a state; see [State].
//
// # What it never does
//
// It knows no time but durations, no chance, no disk, no network, no other
// goroutine and no lock; a test reads its imports. It never panics on what is
// in an entry or a snapshot, nor allocates without a bound because of it.
//
// # How a state is laid out
//
// Records are in slots, 256 to a [page]; a key finds its slot by an [index]
// without pointers, a [Number] has it. What a renewal changes, the grant index,
// is apart from the rest, and both parts of a page are copied on write:
// [State.Snapshot] copies only where the pages are, and the first renewal after
// it 2 KB of its page. A record takes about 120 bytes of heap with a key of 24
// bytes, and a page has three pointers. All of this is local to a node; what is
// replicated are the records with their slots, and the globals.
package fsm
