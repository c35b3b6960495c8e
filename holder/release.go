package holder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/tenure"
)

// Release gives the key up: the gate closes at the call, and then the store is
// told, so that a waiting owner gets the key at once. Work whose Do has not
// returned by then will not be acknowledged; let it finish before.
//
// nil says that the tenure is over. While the store can't answer, Release
// tries again until ctx ends or the TTL has passed; the error is then a
// [*tenure.UnavailableError], and the lease is not renewed any more: the key is
// free when the TTL has passed at the latest. If the error says that the
// release may have been applied, somebody else may have the key already. A
// release of a lease that is over, lost or released or given up in vain, is a
// success and sends nothing; one at the same time as another waits for it, and
// returns what became of it.
func (l *Lease) Release(ctx context.Context) error { return l.release(ctx, false) }

// ReleaseForgotten is Release for a key without durable copies, or with none
// that anybody will want to read: the same log entry forgets them, and the
// cluster keeps no record of the key. nil says that the tenure is over, and no
// more: where it had ended before, its copies were not forgotten. Copies that
// have to be dead are forgotten with [Lease.Forget] first.
func (l *Lease) ReleaseForgotten(ctx context.Context) error { return l.release(ctx, true) }

func (l *Lease) release(ctx context.Context, forget bool) error {
	h := l.holder
	first, quiet, until := h.beginRelease(l, l.fencedFor(tenure.LeaseReleased, nil))
	if !first {
		return l.waitOver(ctx)
	}
	defer h.releases.Done()
	err := h.tellRelease(ctx, l, quiet, until, forget)
	h.mu.Lock()
	defer h.mu.Unlock()
	l.releaseErr = err
	h.finish(l, l.fenced())
	return err
}

// beginRelease closes the gate, ends the renewals and makes the caller the one
// who releases, unless somebody else is. quiet, if not nil, is closed when the
// renewal that is on its way has ended; until is when the TTL has passed.
func (h *Holder) beginRelease(l *Lease, reason *tenure.FencedError) (first bool, quiet chan struct{}, until time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.phase >= ending {
		return false, nil, 0
	}
	h.releases.Add(1)
	l.phase = ending
	l.gate.shutFor(reason)
	l.unbind()
	h.renewals.remove(&l.renewal)
	h.deadlines.remove(&l.deadline)
	if l.sending {
		l.quiet = make(chan struct{})
	}
	return true, l.quiet, l.fence + h.cadence.margin
}

// tellRelease releases the tenure in the store, after the renewal that is on
// its way.
func (h *Holder) tellRelease(ctx context.Context, l *Lease, quiet chan struct{}, until time.Duration, forget bool) error {
	if quiet != nil {
		select {
		case <-quiet:
		case <-ctx.Done():
			return l.unreleased(new(trail).end(ctx, l.key, ""))
		}
	}
	req := tenure.ReleaseRequest{
		Owner:   h.owner,
		Endings: []tenure.Ending{{Key: l.key, Epoch: l.epoch}},
		Forget:  forget,
	}
	_, err := h.insist(ctx, l.key, until, func(ctx context.Context) error {
		return resultAt(h.store.Release(ctx, req), 0).Err
	})
	switch {
	case err == nil || errors.Is(err, tenure.ErrLost):
		return nil
	default:
		return l.unreleased(err)
	}
}

// unreleased says what a failed release leaves behind.
func (l *Lease) unreleased(err error) error {
	var u *tenure.UnavailableError
	if errors.As(err, &u) && !u.MaybeApplied {
		return fmt.Errorf("%w; epoch %d of %s was not released, so nobody else gets the key before its TTL, %v, has passed",
			err, l.epoch, l.holder.owner, l.TTL())
	}
	return fmt.Errorf("%w; epoch %d of %s may be released, and somebody else have the key; else the key is free when its TTL, %v, has passed",
		err, l.epoch, l.holder.owner, l.TTL())
}

// waitOver waits for somebody else's release to end.
func (l *Lease) waitOver(ctx context.Context) error {
	select {
	case <-l.done:
		return nil
	default:
	}
	select {
	case <-l.done:
		l.holder.mu.Lock()
		defer l.holder.mu.Unlock()
		return l.releaseErr
	case <-ctx.Done():
		return &tenure.UnavailableError{Key: l.key, MaybeApplied: true, Reason: "another release of it is on its way", Err: ctx.Err()}
	}
}
