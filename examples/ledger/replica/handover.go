package replica

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	askAfter = 300 * time.Millisecond // of waiting: the place in line is there by then
	askAgain = time.Second
	askTime  = time.Second // for one question
)

// A handover asks a replica for tenants that it owns.
type handover struct {
	To      string   `json:"to"` // the replica that stands in line for them
	Tenants []string `json:"tenants"`
}

// askOwners asks the owners of the tenants that this replica waits for to hand
// them over. An owner that is gone doesn't answer; its leases expire.
func (r *Replica) askOwners(asked map[string]time.Time) {
	for owner, tenants := range r.waitedFor() {
		if time.Since(asked[owner]) < askAgain {
			continue
		}
		asked[owner] = time.Now()
		r.work.Go(func() {
			if err := r.ask(owner, tenants); err != nil {
				r.log.Debug("asked for tenants in vain", "owner", owner, "error", err)
			}
		})
	}
}

// waitedFor returns the tenants that have been waited for long enough, by owner.
func (r *Replica) waitedFor() map[string][]string {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	tenants := make(map[string][]string)
	for tenant, p := range r.table.pursuits {
		if p.owns || time.Since(p.since) < askAfter {
			continue
		}
		if owner := r.owner(tenant); owner != "" && owner != r.cfg.ID {
			tenants[owner] = append(tenants[owner], tenant)
		}
	}
	return tenants
}

func (r *Replica) ask(owner string, tenants []string) error {
	to, ok := peer(r.cfg.Peers, owner)
	if !ok {
		return fmt.Errorf("no replica of this fleet is called %q", owner)
	}
	ctx, cancel := context.WithTimeout(r.staying, askTime)
	defer cancel()
	answer, err := r.send(ctx, to, http.MethodPost, "/handover", handover{To: r.cfg.ID, Tenants: tenants})
	if err == nil && answer.status != http.StatusOK {
		err = fmt.Errorf("%s answered %d: %s", owner, answer.status, answer.body)
	}
	return err
}

// handOver gives up those of the tenants that the other replica is to have, and
// returns how many. It doesn't wait for that.
func (r *Replica) handOver(h handover) int {
	given := 0
	for _, tenant := range h.Tenants {
		t := r.table.tenancy(tenant)
		if t == nil || !r.yields(tenant, h.To) {
			continue
		}
		t.end()
		given++
	}
	r.counts.handovers.Add(int64(given))
	return given
}

// yields reports whether this replica gives a tenant to another that asks. It
// depends on nothing that two replicas could see differently, so that a tenant
// can't go round in a circle.
func (r *Replica) yields(tenant, to string) bool {
	if r.staying.Err() != nil {
		return to != r.cfg.ID
	}
	return r.placement.before(tenant, to, r.cfg.ID)
}
