package holder

import (
	"time"

	"example.com/tenure"
)

// A Lease is a holder's handle on one tenure. All methods can be called
// concurrently.
//
// A lease ends once and never comes back: acquire the key again for another.
type Lease struct {
	holder    *Holder
	key       string
	epoch     uint64
	forgotten uint64
	gate      gate
	bound     boundContext
	done      chan struct{} // closed when phase becomes over

	// Everything below is guarded by holder.mu.

	phase   phase
	granted time.Duration // the TTL that holds
	fence   time.Duration // of the newest grant; the gate's while it is not shut

	renewal  mark          // when the next renewal is due, unless one is on its way
	deadline mark          // when the keeper has to look at the lease for another reason
	sending  bool          // a renewal is on its way
	quiet    chan struct{} // if not nil, to be closed when that renewal has ended

	forgets  int // calls of Forget on their way
	failures int // renewals in a row without an answer
	late     int // of them, those sent past the fence
	spent    int // answered renewals in a row whose fence was in the past

	untriedUntil   time.Duration // if the gate is untried then, the lease is let go; 0 for never
	forgottenUntil time.Duration // when a lease that was to be forgotten is let go; 0 for never

	releaseErr error // of its release, for those who wait for it
}

// A phase is how far a lease is on its way to its end. It only goes forward.
type phase uint8

const (
	serving    phase = iota // the gate opens and closes with the fence
	forgetting              // a Forget was sent: the gate is shut, renewals go on
	ending                  // a release is on its way: no renewals any more
	over                    // the holder sends nothing more about this tenure
)

// Key returns the key that is held.
func (l *Lease) Key() string { return l.key }

// Owner returns the owner of the tenure, which is the holder's.
func (l *Lease) Owner() string { return l.holder.owner }

// Epoch returns the tenure's epoch, the fencing token of everything that is
// written under it.
func (l *Lease) Epoch() uint64 { return l.epoch }

// ForgottenAtEpoch returns the key's forgotten epoch as it was when the tenure
// began. It is fixed for the whole tenure, also after a Forget: a reader must
// not change its mind halfway.
func (l *Lease) ForgottenAtEpoch() uint64 { return l.forgotten }

// Live reports whether a durable copy that was written under epoch counts for
// this tenure: it is above the forgotten epoch and not above the tenure's own.
// Of the live copies the one with the highest epoch is the one to read. A copy
// above the tenure's epoch is not one to pass over: it says that the store or
// the lease cluster is not the one it was.
func (l *Lease) Live(epoch uint64) bool { return epoch > l.forgotten && epoch <= l.epoch }

// TTL returns the TTL that holds: the one which the store judges the tenure
// by.
func (l *Lease) TTL() time.Duration {
	l.holder.mu.Lock()
	defer l.holder.mu.Unlock()
	return l.granted
}

// Done returns a channel that is closed when the tenure is over for good, as
// far as this holder is concerned: it was lost or released, or its release was
// given up. From then on the holder sends nothing about it, and the key can be
// acquired again. A fence that has passed doesn't close it: see
// [Lease.Context] for that.
func (l *Lease) Done() <-chan struct{} { return l.done }

// Err returns nil until Done is closed, and then a [*tenure.FencedError] that
// says whether the tenure was released or lost. After a loss it matches
// [tenure.ErrLost] too.
func (l *Lease) Err() error {
	select {
	case <-l.done:
		return l.fenced()
	default:
		return nil
	}
}

// record returns the tenure's record as the holder knows it.
func (l *Lease) record() tenure.Record {
	return tenure.Record{Key: l.key, Owner: l.holder.owner, Epoch: l.epoch, ForgottenAtEpoch: l.forgotten, Held: true}
}
