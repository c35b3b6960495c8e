package holder

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/tenure"
)

// grace is how long Close waits, after its context has ended, for calls to the
// store to notice that theirs have, too.
const grace = time.Second

// A closing is the one Close that does the work, for the others to wait for.
type closing struct {
	done chan struct{}
	err  error // once done is closed
}

// Close closes every gate, ends what waits, releases in batches all that the
// holder has, so that others get the keys at once, and stops the holder. No
// goroutine of the holder is left when it returns. Close the holder before its
// store.
//
// While the store can't answer, Close tries again until ctx ends or a TTL has
// passed; the error then says how many tenures are not known to be released. A
// key whose tenure was not is free when its TTL has passed. Closing twice is one
// closing: the second call waits for the first.
func (h *Holder) Close(ctx context.Context) error {
	leases, first := h.beginClose()
	if first {
		h.closing.err = h.finishClose(ctx, leases)
		close(h.closing.done)
		return h.closing.err
	}
	select {
	case <-h.closing.done:
		return h.closing.err
	case <-ctx.Done():
		return fmt.Errorf("the holder of %s is still being closed by another call: %w", h.owner, ctx.Err())
	}
}

// beginClose closes all gates and ends all that waits. It returns the leases
// that nobody is releasing yet.
func (h *Holder) beginClose() (leases []*Lease, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, false
	}
	h.closed = true
	for _, l := range h.leases {
		if l.phase >= ending {
			continue
		}
		l.phase = ending
		l.gate.shutFor(l.fencedFor(tenure.LeaseReleased, ErrClosed))
		l.unbind()
		leases = append(leases, l)
	}
	h.end(ErrClosed)
	return leases, true
}

func (h *Holder) finishClose(ctx context.Context, leases []*Lease) error {
	h.await(ctx, &h.running) // so that renewals come before releases, and acquires have left what they leave
	endings := h.endings(leases)
	unreleased, err := h.releaseAll(ctx, endings)
	h.await(ctx, &h.releases)

	h.mu.Lock()
	for _, l := range leases {
		h.finish(l, l.fenced())
	}
	h.mu.Unlock()
	if unreleased > 0 {
		return fmt.Errorf("%d of %d tenures of %s are not known to be released; a key that was not is free when the TTL, %v, has passed: %w",
			unreleased, len(endings), h.owner, h.cadence.ttl, err)
	}
	return nil
}

// await waits for a group, until a moment after ctx has ended.
func (h *Holder) await(ctx context.Context, group *sync.WaitGroup) {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	late := make(chan struct{})
	timer := h.clock.AfterFunc(grace, func() { close(late) })
	defer timer.Stop()
	select {
	case <-done:
	case <-late:
	}
}

// endings returns all that Close has to release: the leases, and what was
// still to be handed back.
func (h *Holder) endings(leases []*Lease) []tenure.Ending {
	h.mu.Lock()
	defer h.mu.Unlock()
	endings := make([]tenure.Ending, 0, len(leases)+len(h.returns.pending))
	for _, l := range leases {
		endings = append(endings, tenure.Ending{Key: l.key, Epoch: l.epoch})
	}
	for _, e := range h.returns.pending {
		endings = append(endings, e)
	}
	return endings
}

// releaseAll releases in batches, a few at a time, and returns how many were
// not released and why one of them wasn't.
func (h *Holder) releaseAll(ctx context.Context, endings []tenure.Ending) (unreleased int, err error) {
	var (
		mu      sync.Mutex
		batches sync.WaitGroup
		slots   = make(chan struct{}, mostCalls)
		until   = h.clock.Now() + h.cadence.ttl
	)
	for len(endings) > 0 {
		batch := endings[:min(most, len(endings))]
		endings = endings[len(batch):]
		slots <- struct{}{}
		batches.Go(func() {
			defer func() { <-slots }()
			n, e := h.releaseBatch(ctx, batch, until)
			mu.Lock()
			defer mu.Unlock()
			if n > 0 {
				unreleased, err = unreleased+n, e
			}
		})
	}
	batches.Wait()
	return unreleased, err
}

// releaseBatch releases one batch. What got no answer is tried again.
func (h *Holder) releaseBatch(ctx context.Context, endings []tenure.Ending, until time.Duration) (unreleased int, err error) {
	_, err = h.insist(ctx, "", until, func(ctx context.Context) error {
		results := h.store.Release(ctx, tenure.ReleaseRequest{Owner: h.owner, Endings: endings})
		var open []tenure.Ending
		var last error
		for i, e := range endings {
			if err := resultAt(results, i).Err; !answered(err) {
				open, last = append(open, e), err
			}
		}
		endings = open
		return last
	})
	return len(endings), err
}
