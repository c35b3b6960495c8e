package workload

import (
	"context"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

const (
	dawdleOne = 5 // of so many grants are renewed late
	// mostDawdling is how many renewals a request has, at most, that may be
	// held back: one of many keys would hold back too much.
	mostDawdling = 4
)

// A dawdler holds some renewals back until shortly before the fence of the
// grant before, as if the process stood still there. Their answers then come
// when the holder has nearly stopped. It holds back one at a time: the holder
// has few calls under way at once, and others must not wait for one.
type dawdler struct {
	mu    sync.Mutex
	busy  bool
	grant map[string]history.Event // by key: the newest that was taken
}

func (d *dawdler) granted(hold history.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.grant == nil {
		d.grant = make(map[string]history.Event)
	}
	d.grant[hold.Key] = hold
}

// wait returns how long a request is held back. After one that is, done has to
// be called.
func (d *dawdler) wait(asks []history.Event, now time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(asks) > mostDawdling || d.busy {
		return 0
	}
	wait := time.Duration(-1)
	for _, ask := range asks {
		grant := d.grant[ask.Key]
		if ask.F != history.Renew || grant.Epoch != ask.Epoch || grant.Fence == 0 || grant.Index%dawdleOne != 0 {
			return 0
		}
		// A twelfth of what was usable is left.
		if w := grant.Fence - (grant.Fence-grant.Sent)/12 - now; wait < 0 || w < wait {
			wait = w
		}
	}
	d.busy = wait > 0
	return max(wait, 0)
}

func (d *dawdler) done() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy = false
}

// dawdle holds a request back, or not. It returns the context to send it with:
// whoever asked may have given it up meanwhile, but it is on its way.
func (r *recorder) dawdle(ctx context.Context, asks []history.Event) (context.Context, context.CancelFunc) {
	wait := r.late.wait(asks, r.process.cfg.Journal.Now())
	if wait == 0 {
		return ctx, func() {}
	}
	defer r.late.done()
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.process.ctx.Done():
	}
	return context.WithTimeout(r.process.ctx, r.process.ttl())
}
