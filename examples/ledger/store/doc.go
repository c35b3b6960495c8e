// Package store keeps tenants' ledgers in a directory that a fleet shares, and
// loses no acknowledged entry whatever process is frozen, for however long.
//
// It guarantees, with no clock at all: an entry whose Append returned nil is in
// every ledger of the tenant that is read or opened later, once and at the same
// place, until the tenant's copies are forgotten; an entry that was read once
// does not vanish; and nothing that a writer of a dead epoch lands after its
// successor has read is ever read back.
//
// It assumes what a lease gives: an epoch belongs to one tenure, and a later
// tenure has a higher one. It assumes one POSIX file system, seen alike by all
// processes: not a network file system that caches attributes or directories.
//
// It never asks whether a lease is still held. The gate of the lease does that,
// around the call:
//
//	ledger, err := ledgers.Open(ctx, "tenant-42", lease)
//	err = lease.Do(ctx, func(ctx context.Context) error {
//		entry, err = ledger.Append(ctx, "order-17", "paid")
//		return err
//	})
//
// # Files
//
// A key has a directory, and in it
//
//   - copy-E, the ledger as the tenure of epoch E wrote it: all that it read
//     when it took over, then what it appended. It appears complete, by a
//     rename, and only the tenure of epoch E ever writes to it;
//   - draft-E, a copy that is not complete yet;
//   - seal-E, an empty file, which says that every epoch below E is sealed.
//
// # The rule
//
// A writer writes to its own copy and syncs it, then looks whether its epoch is
// sealed, and only then acknowledges. A successor first creates its seal and
// syncs the directory, then reads the newest live copy, and publishes what it
// read as its own copy before it acknowledges anything. The file system orders
// the creation of the seal and the writer's look, so one of the two sees the
// other: if the look came first, the entry was in the file before the successor
// read it; if the seal came first, the look finds it and nothing is
// acknowledged.
//
// A seal only rises because a seal file is never written to, only created under
// a name that did not exist, and removed only by the maker of a higher one. What
// that takes of the removal is told at [Ledger] look and clean, in seal.go and
// clean.go.
package store
