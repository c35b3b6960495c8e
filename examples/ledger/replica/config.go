package replica

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure"
	"example.com/tenure/node"
)

// A Config describes a replica. ID, Peers, Data, Ledgers and Tenants are
// required.
type Config struct {
	ID    string // the replica's name, one of those in Peers
	Peers []Peer // all replicas of the fleet, the same list on each

	Listen string // HOST:PORT of the node, "" for the one in Peers
	HTTP   string // HOST:PORT of the API, "" for the one in Peers

	// Dial has the replicas that this one reaches elsewhere than at their
	// address in Peers: through a proxy, say. Requests that are passed on and
	// all that the nodes say to each other go there.
	Dial []Peer

	Data    string // folder of the node's data, this replica's own
	Ledgers string // folder of the ledgers, shared by the fleet
	Tenants int    // how many tenants there are: 1 to MaxTenants

	TTL    time.Duration // of the leases; 0 is holder.DefaultTTL
	Margin time.Duration // of the leases; 0 is a tenth of TTL

	Logger hclog.Logger // nil is silence
}

// A Peer is a replica of the fleet and where it can be reached.
type Peer struct {
	ID   string
	Node string // HOST:PORT of its node
	HTTP string // HOST:PORT of its API
}

// MaxTenants is the largest number of tenants of a fleet.
const MaxTenants = 10_000

// ParsePeers reads a list like r1=HOST:PORT/HOST:PORT,r2=..., where the first
// address of a replica is that of its node and the second that of its API.
func ParsePeers(list string) ([]Peer, error) {
	var peers []Peer
	for _, item := range strings.Split(list, ",") {
		id, addrs, ok := strings.Cut(item, "=")
		nodeAddr, httpAddr, both := strings.Cut(addrs, "/")
		if !ok || !both || id == "" || nodeAddr == "" || httpAddr == "" {
			return nil, &tenure.InvalidError{Field: "peers", Value: fmt.Sprintf("%q", item), Bound: "ID=HOST:PORT/HOST:PORT, the addresses of the node and of the API"}
		}
		peers = append(peers, Peer{ID: id, Node: nodeAddr, HTTP: httpAddr})
	}
	return peers, nil
}

// FormatPeers is the reverse of ParsePeers.
func FormatPeers(peers []Peer) string {
	items := make([]string, len(peers))
	for i, p := range peers {
		items[i] = p.ID + "=" + p.Node + "/" + p.HTTP
	}
	return strings.Join(items, ",")
}

// Tenants returns the names of a fleet's tenants, which are their keys too.
func Tenants(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("tenant-%03d", i)
	}
	return names
}

// validate checks what the node and the holder don't, and fills in defaults.
func (c Config) validate() (Config, error) {
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	self, ok := peer(c.Peers, c.ID)
	switch {
	case !ok:
		return c, &tenure.InvalidError{Field: "id", Value: fmt.Sprintf("%q", c.ID), Bound: "one of those in peers"}
	case c.Tenants < 1 || c.Tenants > MaxTenants:
		return c, &tenure.InvalidError{Field: "tenants", Value: fmt.Sprint(c.Tenants), Bound: fmt.Sprintf("from 1 to %d", MaxTenants)}
	case c.Ledgers == "":
		return c, &tenure.InvalidError{Field: "ledgers", Value: `""`, Bound: "a folder that the fleet shares"}
	}
	for _, p := range c.Dial {
		if _, ok := peer(c.Peers, p.ID); !ok {
			return c, &tenure.InvalidError{Field: "dial", Value: fmt.Sprintf("%q", p.ID), Bound: "replicas in peers"}
		}
	}
	if c.Listen == "" {
		c.Listen = self.Node
	}
	if c.HTTP == "" {
		c.HTTP = self.HTTP
	}
	return c, nil
}

func (c Config) node() node.Config {
	self, _ := peer(c.Peers, c.ID)
	cfg := node.Config{ID: c.ID, Listen: c.Listen, Advertise: self.Node, Dir: c.Data, Logger: c.Logger.Named("node"), Network: c.network()}
	for _, p := range c.Peers {
		cfg.Peers = append(cfg.Peers, node.Peer{ID: p.ID, Addr: p.Node})
	}
	return cfg
}

func peer(peers []Peer, id string) (Peer, bool) {
	for _, p := range peers {
		if p.ID == id {
			return p, true
		}
	}
	return Peer{}, false
}
