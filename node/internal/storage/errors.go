package storage

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

var (
	// ErrClosed is returned by a store whose guard was closed.
	ErrClosed = errors.New("the storage is closed")
	// ErrEnded is what [Go] reports of a function that a failed store ended.
	ErrEnded = errors.New("ended by a failed store")

	// errNotFound has the text by which Raft knows an absent stable value.
	errNotFound = errors.New("not found")
)

// What can be done about a failure, as messages say it.
const (
	adviseDisk = "see to the disk and restart the node, which has lost nothing that it acknowledged"
	adviseJoin = "remove this node from the cluster, empty its folder, and let it join anew"
)

// A FailedError says why the stores of a node stopped for good.
type FailedError struct {
	Name   string // of the stores
	Op     string // what was tried
	Err    error  // the cause
	Advice string // what to do, "" if the cause says it
	Stack  []byte // of the panic that was the cause, if one was
}

// Error names the stores, what was tried, the cause, and what to do.
func (e *FailedError) Error() string {
	msg := fmt.Sprintf("%s: %s: %v: the node has stopped", e.Name, e.Op, e.Err)
	if e.Advice != "" {
		msg += ": " + e.Advice
	}
	return msg
}

// Unwrap returns the cause.
func (e *FailedError) Unwrap() error { return e.Err }

// A DamageError says which part of a node's data is not what was written.
type DamageError struct {
	Name string // the file, or the stores
	What string // what is wrong with it
}

// Error names the file, what is wrong with it, and what to do.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%s is damaged: %s: %s", e.Name, e.What, adviseJoin)
}

// A RejectedError says why entries were not stored although nothing is wrong
// with this node: they were damaged before they came here.
type RejectedError struct {
	Index uint64 // of the offending entry, 0 if it has none
	Err   error
}

// Error names the entry.
func (e *RejectedError) Error() string {
	return fmt.Sprintf("entry %d was refused before it was stored: %v", e.Index, e.Err)
}

// Unwrap returns what is wrong with the entry.
func (e *RejectedError) Unwrap() error { return e.Err }

// isAbsent tells by Raft's own convention whether err says that a stable value
// is not there.
func isAbsent(err error) bool {
	return err != nil && err.Error() == errNotFound.Error()
}

func isNoEntry(err error) bool { return errors.Is(err, raft.ErrLogNotFound) }
