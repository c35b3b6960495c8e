package replica

import (
	"strings"
	"time"
)

const (
	// replicaPrefix and the replica's name are the key that says it is alive.
	replicaPrefix = "replica/"

	balanceEvery = 100 * time.Millisecond
	// settleTime is how long a replica that has come up looks at the others
	// before it wants anything. In a fleet that starts as a whole, each would
	// want all tenants until it has seen the others.
	settleTime = 500 * time.Millisecond
)

// announce holds the key that says this replica is alive, until it leaves.
func (r *Replica) announce() {
	for r.staying.Err() == nil {
		lease, err := r.holder.AcquireWait(r.staying, replicaPrefix+r.cfg.ID)
		if err != nil {
			sleep(r.staying, firstPause)
			continue
		}
		select {
		case <-lease.Done():
		case <-r.staying.Done():
		}
		if err := r.release(lease); err != nil {
			r.log.Warn("the others will see this replica as alive for another TTL", "error", err)
		}
	}
}

// balance looks again and again who is alive, and pursues the tenants whose home
// this replica is.
func (r *Replica) balance() {
	if r.node.WaitReady(r.staying) != nil {
		return
	}
	sleep(r.staying, settleTime)
	for asked := make(map[string]time.Time); r.staying.Err() == nil; sleep(r.staying, balanceEvery) {
		r.pursueHome()
		r.useLeases()
		r.askOwners(asked)
	}
}

// alive reports whether a replica's own key is held, as this node judges.
func (r *Replica) alive(replica string) bool {
	if replica == r.cfg.ID {
		return r.staying.Err() == nil
	}
	o := r.node.Owner(replicaPrefix + replica)
	return o.Held && !o.Expired
}

// pursueHome wants the tenants whose home this replica is, and leaves the lines
// for others. A tenant that it owns it keeps: until somebody asks for it.
func (r *Replica) pursueHome() {
	alive := make(map[string]bool, len(r.cfg.Peers))
	for _, p := range r.cfg.Peers {
		alive[p.ID] = r.alive(p.ID)
	}
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	for _, tenant := range r.tenants {
		home := r.placement.home(tenant, func(id string) bool { return alive[id] })
		p := r.table.pursuits[tenant]
		switch {
		case home == r.cfg.ID && p == nil:
			r.pursue(tenant)
		case home != r.cfg.ID && p != nil && !p.owns:
			p.cancel()
		}
	}
}

// useLeases passes every gate once, so that the holder doesn't take a tenant
// without requests for one that nobody serves.
func (r *Replica) useLeases() {
	for _, lease := range r.holder.Leases() {
		if err := lease.AssertHeld(); err != nil {
			r.log.Debug("a lease is not held at the moment", "error", err)
		}
	}
}

// owner returns the replica that owns a tenant, as this node judges, or "".
func (r *Replica) owner(tenant string) string {
	o := r.node.Owner(tenant)
	if !o.Held || o.Expired {
		return ""
	}
	return replicaOf(o.Owner)
}

// replicaOf returns the replica's name in an owner, which is that, a slash and
// the incarnation.
func replicaOf(owner string) string {
	if i := strings.LastIndexByte(owner, '/'); i >= 0 {
		return owner[:i]
	}
	return owner
}
