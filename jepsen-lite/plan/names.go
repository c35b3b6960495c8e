package plan

import (
	"strconv"
	"strings"
)

// NodeName returns the name of the i-th node, from 0.
func NodeName(i int) string { return "n" + strconv.Itoa(i+1) }

// ReplicaName returns the name of the i-th replica, from 0.
func ReplicaName(i int) string { return "r" + strconv.Itoa(i+1) }

func isNode(host string) bool { return strings.HasPrefix(host, "n") || host == Leader }

// HostOf returns the host that a node or a replica is on: a replica that embeds
// a node is on the node's. Every other name stays as it is.
func (p *Plan) HostOf(name string) string {
	for i := range p.Embedded {
		if name == ReplicaName(i) {
			return NodeName(i)
		}
	}
	return name
}

// EmbeddedIn returns the replica that embeds a node, "" if none does.
func (p *Plan) EmbeddedIn(node string) string {
	for i := range p.Embedded {
		if node == NodeName(i) {
			return ReplicaName(i)
		}
	}
	return ""
}

// hasNode reports whether a node runs on the host of a name.
func (p *Plan) hasNode(name string) bool { return isNode(p.HostOf(name)) }

// hasReplica reports whether a replica runs on the host of a name. The leader's
// may be any node's.
func (p *Plan) hasReplica(name string) bool {
	return !isNode(name) || p.EmbeddedIn(name) != "" || name == Leader && p.Embedded > 0
}

// Link returns the name of the link from one host to another.
func Link(from, to string) string { return from + ">" + to }

// Ends returns the hosts of a link.
func Ends(link string) (from, to string, ok bool) { return strings.Cut(link, ">") }
