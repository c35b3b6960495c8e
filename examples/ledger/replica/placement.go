package replica

import (
	"bytes"
	"crypto/sha256"
	"slices"
)

// A placement is the fixed order that every tenant has of all replicas of the
// fleet, by rendezvous hashing. All replicas compute the same.
type placement struct {
	orders map[string][]string
}

func newPlacement(tenants, replicas []string) placement {
	p := placement{orders: make(map[string][]string, len(tenants))}
	for _, tenant := range tenants {
		order := slices.Clone(replicas)
		slices.SortFunc(order, func(a, b string) int {
			return bytes.Compare(weight(b, tenant), weight(a, tenant))
		})
		p.orders[tenant] = order
	}
	return p
}

func weight(replica, tenant string) []byte {
	sum := sha256.Sum256([]byte(tenant + "@" + replica))
	return sum[:]
}

// home returns the first replica in the tenant's order that is alive, or "".
func (p placement) home(tenant string, alive func(replica string) bool) string {
	for _, replica := range p.orders[tenant] {
		if alive(replica) {
			return replica
		}
	}
	return ""
}

// before reports whether a comes before b in the tenant's order.
func (p placement) before(tenant, a, b string) bool {
	order := p.orders[tenant]
	i, j := slices.Index(order, a), slices.Index(order, b)
	return i >= 0 && j >= 0 && i < j
}
