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
// grant before, as a slow way to the store might. Their answers then come when
// the holder has nearly stopped, or has.
type dawdler struct {
	mu    sync.Mutex
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

// wait returns how long a request is held back.
func (d *dawdler) wait(asks []history.Event, now time.Duration) time.Duration {
	if len(asks) > mostDawdling {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	wait := time.Duration(-1)
	for _, ask := range asks {
		grant := d.grant[ask.Key]
		if ask.F != history.Renew || grant.Epoch != ask.Epoch || grant.Fence == 0 || grant.Index%dawdleOne != 0 {
			return 0
		}
		// A twentieth of what was usable is left.
		if w := grant.Fence - (grant.Fence-grant.Sent)/20 - now; wait < 0 || w < wait {
			wait = w
		}
	}
	return max(wait, 0)
}

// dawdle reports whether the request is to be sent after all.
func (r *recorder) dawdle(ctx context.Context, asks []history.Event) bool {
	wait := r.late.wait(asks, r.process.cfg.Journal.Now())
	if wait == 0 {
		return true
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.process.ctx.Done(): // it has its last word
		return true
	case <-ctx.Done():
		return false
	}
}
