// Package raftwal offers a log with one sync a write behind the storage seam of
// a node: hashicorp/raft-wal in the place of bolt, whose every commit syncs
// twice. A lone caller then waits for two syncs in series instead of four, and
// an entry of many renewals is written once instead of several times over.
//
//	n, err := node.Open(ctx, node.Config{ID: "n1", Storage: raftwal.Storage(dir), ...})
//
// It is a module of its own, so that a program which embeds a node with bolt
// carries no dependency of it.
//
// # What is where
//
// Only the log moves: the folder wal has its segments and the list of them. The
// vote, the identity and the snapshots stay where node.BoltStorage has them, in
// the same folder, under the same lock and the same checks. In bolt's own log
// lies a mark that no log can have, so that node.BoltStorage refuses a folder
// whose log is here, instead of starting with an empty one; the other way round
// Open refuses a folder whose log is in bolt.
//
// # What it guarantees
//
// An entry is on the disk, and so is the name of the file that holds it, when
// StoreLogs returns. After a crash, of the process or of the machine, all such
// entries are there, and of the batch that was being written either all or
// nothing.
//
// Damage is refused, not repaired. raft-wal by itself takes the first frame of
// its newest segment that it can't read for the end of the log, and would let
// all behind it go. Open looks behind that place. It knows what a write that a
// crash interrupted looks like: segments are made of zeros, whatever lies behind
// the last whole batch is set to zero again before anything is written there,
// and a disk writes sectors whole. So a broken batch is taken for an interrupted
// write only where it is the last one and a sector of it was never written.
//
// # What it assumes
//
// That a disk writes a sector of 512 bytes whole or not at all, and that files
// don't vanish: the newest segment's absence looks like a crash just before it
// was first written. Damage to the very last batch that makes it look like an
// interrupted write can't be told from one.
package raftwal
