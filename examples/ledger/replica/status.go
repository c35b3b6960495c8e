package replica

import "slices"

// A Status is what a replica knows of itself and the fleet, without asking
// anyone.
type Status struct {
	Replica string `json:"replica"`
	Owner   string `json:"owner"` // the replica and its incarnation
	Ready   bool   `json:"ready"` // the lease cluster can be reached
	Leader  string `json:"leader"`
	// Alive has the replicas whose own key is held.
	Alive []string `json:"alive"`
	// Tenants has the tenants by the replica that owns them; under "" those
	// that nobody owns.
	Tenants map[string][]string `json:"tenants"`
	Serving int                 `json:"serving"` // tenants that this replica answers for
	Waiting int                 `json:"waiting"` // tenants that it stands in line for

	// What this replica has done since it started.
	Acknowledged int64 `json:"acknowledged"` // entries
	Takeovers    int64 `json:"takeovers"`    // ledgers opened
	Handovers    int64 `json:"handovers"`    // tenants given to a replica that asked
	Forwarded    int64 `json:"forwarded"`    // requests passed on
	Refused      int64 `json:"refused"`      // requests answered as unavailable
}

// Status returns what the replica knows now.
func (r *Replica) Status() Status {
	s := Status{
		Replica: r.cfg.ID, Owner: r.holder.Owner(), Ready: r.node.Ready() == nil, Leader: r.node.Status().Leader,
		Tenants: make(map[string][]string), Serving: r.table.owned(), Waiting: r.table.waiting(),
		Acknowledged: r.counts.acknowledged.Load(), Takeovers: r.counts.takeovers.Load(), Handovers: r.counts.handovers.Load(),
		Forwarded: r.counts.forwarded.Load(), Refused: r.counts.refused.Load(),
	}
	for _, p := range r.cfg.Peers {
		if r.alive(p.ID) {
			s.Alive = append(s.Alive, p.ID)
		}
	}
	for _, tenant := range r.tenants {
		owner := r.owner(tenant)
		s.Tenants[owner] = append(s.Tenants[owner], tenant)
	}
	slices.Sort(s.Alive)
	return s
}

// waiting counts the tenants that are wanted and not owned.
func (t *table) waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, p := range t.pursuits {
		if !p.owns {
			n++
		}
	}
	return n
}
