package virtual

import (
	"example.com/tenure/jepsen-lite/plan"
)

// A replica that embeds a node is in one process with it: they start, stand
// still and die together, on one host and one clock. A node that stops by
// itself leaves the replica without a store until both are started anew.

// serverOf returns the server of the node that a replica embeds, nil if it
// embeds none.
func (a *arena) serverOf(replica string) *server { return a.nodes[a.plan.HostOf(replica)] }

// embed starts the replica that embeds the node which was just started, if
// there is one.
func (s *server) embed() {
	name := s.arena.plan.EmbeddedIn(s.name)
	if name != "" && s.arena.replicas.Load() && s.arena.ctx.Err() == nil {
		s.arena.begin(name)
	}
}

// bereave kills the replica that embeds the node, whose process crashes, and
// returns what is left to do once the node is dead.
func (s *server) bereave() (bury func()) {
	a, name := s.arena, s.arena.plan.EmbeddedIn(s.name)
	a.mu.Lock()
	p := a.processes[name]
	delete(a.processes, name)
	a.mu.Unlock()
	if p == nil {
		return func() {}
	}
	p.kill()
	return p.close
}

// killReplicas lets replicas die, and with them the nodes that they embed.
func (a *arena) killReplicas(f *plan.Fault, hosts []string) func() {
	return a.apart(f, hosts, (*arena).kill, (*arena).killHolders)
}

// pauseReplicas lets replicas stand still, and with them the nodes that they
// embed.
func (a *arena) pauseReplicas(f *plan.Fault, hosts []string) func() {
	return a.apart(f, hosts, (*arena).pause, (*arena).pauseHolders)
}

type take func(a *arena, f *plan.Fault, targets []string) (heal func())

// apart takes a fault of hosts with a node in one way, and of the others in
// another.
func (a *arena) apart(f *plan.Fault, hosts []string, withNode, without take) (heal func()) {
	var nodes, replicas []string
	for _, host := range hosts {
		if a.nodes[host] != nil {
			nodes = append(nodes, host)
		} else {
			replicas = append(replicas, host)
		}
	}
	healNodes, healReplicas := withNode(a, f, nodes), without(a, f, replicas)
	return func() {
		healNodes()
		healReplicas()
	}
}

// withEmbedded adds the replicas that are on the hosts of nodes.
func (a *arena) withEmbedded(hosts []string) []string {
	all := hosts
	for _, host := range hosts {
		if replica := a.plan.EmbeddedIn(host); replica != "" {
			all = append(all[:len(all):len(all)], replica)
		}
	}
	return all
}
