package plan

import "slices"

func (d *drawing) nodes() []string {
	names := make([]string, d.plan.Nodes)
	for i := range names {
		names[i] = NodeName(i)
	}
	return names
}

func (d *drawing) replicas() []string {
	names := make([]string, d.plan.Replicas)
	for i := range names {
		names[i] = ReplicaName(i)
	}
	return names
}

// some draws one to most of the names.
func (d *drawing) some(names []string, most int) []string {
	d.rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	out := names[:d.of(1, min(most, len(names)))]
	slices.Sort(out)
	return out
}

// grudge draws which links suffer: the shapes that have found errors in other
// systems.
func (d *drawing) grudge() []string {
	nodes, hosts := d.nodes(), append(d.nodes(), d.replicas()...)
	switch d.rng.IntN(6) {
	case 0: // halves, replicas on either side
		return d.halves(hosts)
	case 1: // one host, both ways
		one := hosts[d.rng.IntN(len(hosts))]
		return both([]string{one}, others(hosts, one))
	case 2: // one node, one way
		one := nodes[d.rng.IntN(len(nodes))]
		if d.one(2) {
			return links([]string{one}, others(hosts, one))
		}
		return links(others(hosts, one), []string{one})
	case 3: // a ring in which each node sees a majority, and no two the same
		return d.ring(nodes)
	case 4: // the leader from the other nodes: holders still reach it
		return both([]string{Leader}, nodes)
	}
	// One replica from the leader only.
	replica := d.replicas()[d.rng.IntN(d.plan.Replicas)]
	if d.one(2) {
		return []string{Link(Leader, replica)}
	}
	return both([]string{replica}, []string{Leader})
}

func (d *drawing) halves(hosts []string) []string {
	var left, right []string
	for _, host := range hosts {
		if d.one(2) {
			left = append(left, host)
		} else {
			right = append(right, host)
		}
	}
	if len(left) == 0 || len(right) == 0 {
		return both(hosts[:1], hosts[1:])
	}
	return both(left, right)
}

func (d *drawing) ring(nodes []string) []string {
	d.rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	n := len(nodes)
	var out []string
	for i := range n {
		for j := range n {
			near := (j-i+n)%n <= n/4+1 || (i-j+n)%n <= n/4+1
			if n <= 3 {
				near = i == 0 || j == 0 // a bridge: the ring of three has all
			}
			if i != j && !near {
				out = append(out, Link(nodes[i], nodes[j]))
			}
		}
	}
	if len(out) == 0 {
		return both(nodes[:1], nodes[1:])
	}
	return out
}

func others(hosts []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return h == one })
}

func links(from, to []string) []string {
	var out []string
	for _, a := range from {
		for _, b := range to {
			if a != b {
				out = append(out, Link(a, b))
			}
		}
	}
	return out
}

func both(a, b []string) []string { return append(links(a, b), links(b, a)...) }
