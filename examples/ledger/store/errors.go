package store

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by a ledger that its owner has closed.
var ErrClosed = errors.New("the ledger is closed")

// A SealedError says that an epoch can't write or read any more, because the
// store knows a tenure of the same or a higher one.
type SealedError struct {
	Key   string
	Epoch uint64 // the refused one
	By    uint64 // the epoch that sealed it, or the same if it was opened before; 0 if all that is known is that its files were removed
}

// Error says what was found and what to do.
func (e *SealedError) Error() string {
	switch {
	case e.By == 0:
		return fmt.Sprintf("%s: epoch %d is sealed, a later one has removed its copy: acknowledge nothing and acquire the key again", e.Key, e.Epoch)
	case e.By == e.Epoch:
		return fmt.Sprintf("%s: epoch %d has opened its ledger before: release the lease and acquire the key again; "+
			"if no tenure of this cluster did, the lease cluster has lost its memory: stop it", e.Key, e.Epoch)
	default:
		return fmt.Sprintf("%s: epoch %d is sealed by epoch %d: acknowledge nothing and acquire the key again; "+
			"if the cluster never grants an epoch above %d, it has lost its memory: stop it", e.Key, e.Epoch, e.By, e.By)
	}
}

// A CorruptError says that a copy is damaged, other than by a crash in the
// middle of its last write. Nothing is read in its place: an older copy would
// lack what was acknowledged since.
type CorruptError struct {
	Line   int // of the copy, from 1
	Reason string
}

// Error says where the damage is and what to do.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("line %d: %s: the copy is damaged: restore the file from a backup, or mend it by hand", e.Line, e.Reason)
}

// A ConflictError says that an entry id is taken by an entry of another text.
type ConflictError struct {
	Key string
	ID  string
	Seq uint64 // of the entry that has the id
}

// Error names the entry.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s: entry %q exists with another text (seq %d): an id names one entry for good", e.Key, e.ID, e.Seq)
}
