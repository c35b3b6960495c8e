package tenure

import (
	"context"
	"time"
)

// A Store replicates tenures. A node is one, and so is a client that node.Dial
// returns.
//
// Every call sends a batch and returns one [Result] for each of its items, in
// order; a refusal of one item never spoils its neighbours. A call blocks until
// every item has an answer or ctx ends, and then the items without an answer
// are [*UnavailableError]s, which say whether the command may still have been
// applied. All methods can be called concurrently. A store keeps no reference
// to a request after the call returned.
//
// An error in a Result is one of [*HeldError], [*LostError],
// [*UnavailableError] and [*InvalidError]. A grant in a Result is always one
// whose log entry was appended after the call began: answers are never cached,
// which is what lets a caller count a lease from the instant before the call.
type Store interface {
	// Acquire asks for tenures. A retry with the same owner and request id is
	// always safe: it returns the tenure which that id made, if it stands.
	Acquire(ctx context.Context, req AcquireRequest) []Result
	// Renew extends tenures. A refusal is a [*LostError] and final for that
	// tenure.
	Renew(ctx context.Context, req RenewRequest) []Result
	// Release ends tenures at once. It is not retried by the store: a retry
	// of a release that was applied is answered as lost.
	Release(ctx context.Context, req ReleaseRequest) []Result
	// Forget raises the forgotten epoch of each key to the epoch of the given
	// tenure, which goes on. A [*LostError] says that this call forgot nothing;
	// one whose outcome was unknown before may have.
	Forget(ctx context.Context, req ForgetRequest) []Result
}

// A Result is the answer to one item of a request: a grant or an error.
type Result struct {
	Grant Grant
	Err   error
}

// An AcquireRequest asks for tenures on behalf of one owner.
type AcquireRequest struct {
	Owner string
	Asks  []Ask
}

// An Ask is one key of an [AcquireRequest].
type Ask struct {
	Key string
	// RequestID names this acquire of this owner. It is compared together with
	// the owner, so that two acquires under different ids never share a
	// tenure, and a retry gets what the first try got.
	RequestID string
	TTL       time.Duration
	// Wait is how long to stand in line if the key is held, at most
	// [MaxWait]; 0 is not to wait at all.
	Wait time.Duration
}

// A RenewRequest extends tenures of one owner.
type RenewRequest struct {
	Owner    string
	Renewals []Renewal
}

// A Renewal is one tenure of a [RenewRequest].
type Renewal struct {
	Key   string
	Epoch uint64
	TTL   time.Duration // a TTL shorter than the tenure's leaves the tenure's as it is
}

// A ReleaseRequest ends tenures of one owner.
type ReleaseRequest struct {
	Owner   string
	Endings []Ending
	// Forget raises each key's forgotten epoch to the tenure's in the same log
	// entry, so that a key without durable copies leaves nothing behind. It
	// takes effect for an ending that names an epoch.
	Forget bool
}

// An Ending names one tenure of a [ReleaseRequest], by its epoch or, where the
// outcome of the acquire never became known, by its request id.
type Ending struct {
	Key       string
	Epoch     uint64 // 0 if RequestID names the tenure
	RequestID string // "" if Epoch names the tenure
}

// A ForgetRequest forgets the durable copies of keys that one owner holds.
type ForgetRequest struct {
	Owner   string
	Tenures []Tenure
}

// A Tenure is the public identity of a tenure of a known owner.
type Tenure struct {
	Key   string
	Epoch uint64
}
