package replica

import (
	"context"
	"time"
)

const (
	// leaveTime is how long a leaving replica waits for the others to ask for
	// its tenants. What they have not asked for by then it releases all the
	// same.
	leaveTime  = 3 * time.Second
	leaveEvery = 20 * time.Millisecond
)

// leave takes down the key that says this replica is alive, and then serves its
// tenants until the others stand in line for them and have asked.
func (r *Replica) leave(ctx context.Context) {
	r.depart()
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	for ctx.Err() == nil && r.table.owned() > 0 && r.anyoneElse() {
		sleep(ctx, leaveEvery)
	}
}

func (r *Replica) anyoneElse() bool {
	for _, p := range r.cfg.Peers {
		if p.ID != r.cfg.ID && r.alive(p.ID) {
			return true
		}
	}
	return false
}

// owned counts the tenants that are served.
func (t *table) owned() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.tenancies)
}
