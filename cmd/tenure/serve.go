package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure"
	"example.com/tenure/node"
)

var serveVerb = verb{
	name:    "serve",
	summary: "run one node of a cluster",
	help: `
Without a cluster yet, every node gets the same list of all nodes with --peers,
and all of them must be up the first time. Later the list does not matter any
more: a node that is started again goes on with what its data folder says. A
node that comes later gets --join with the address of any member instead.

The node logs to standard error. On SIGINT or SIGTERM it hands leadership over
and stops, which is not leaving: it is still a member. A second signal ends it
at once, which is safe, too. When the node fails (its disk, its data, or it was
removed from the cluster) the exit code is 1 and the last line says why.

Nodes talk in plain text so far, to each other and to clients, and do what
anybody who reaches their port asks of them. So they listen on loopback only,
unless a flag says that the network is trusted.

  tenure serve --id n1 --data /var/lib/tenure --listen 127.0.0.1:7400 \
      --peers n1=127.0.0.1:7400,n2=127.0.0.1:7401,n3=127.0.0.1:7402
  tenure serve --id n4 --data /var/lib/tenure --listen 127.0.0.1:7403 --join 127.0.0.1:7400
`,
	prepare: prepareServe,
}

// beyondLoopback is the flag that allows to listen where others can connect.
const beyondLoopback = "insecure-listen-beyond-loopback"

func prepareServe(c *call) action {
	cfg := &node.Config{}
	id := c.text(flagRow{name: "id", value: "ID", required: true, usage: "the node's name, unique in the cluster"}, anyText)
	data := c.text(flagRow{name: "data", value: "DIR", required: true, usage: "the folder of this node's data, made if it does not exist"}, anyText)
	listen := c.text(flagRow{name: "listen", value: "HOST:PORT", required: true, usage: "the node's one port"}, anyText)
	advertise := c.text(flagRow{name: "advertise", value: "HOST:PORT", usage: "where others reach the node (default as --listen)"}, anyText)
	peers := c.text(flagRow{name: "peers", value: "ID=HOST:PORT,...", usage: "all nodes of a new cluster, this one included"}, func(text string) (err error) {
		cfg.Peers, err = parsePeers(text)
		return err
	})
	join := c.text(flagRow{name: "join", value: "HOST:PORT", usage: "any member of the cluster to join"}, anyText)
	nonvoter := c.toggle("nonvoter", "join without a vote")
	largest := c.duration("largest-ttl", "the longest TTL that the cluster will ever grant; counts at the founding only", tenure.DefaultLargestTTL, func(ttl time.Duration) error {
		return tenure.ValidateTTL(ttl, tenure.MaxTTL)
	})
	election := c.duration("election-timeout", "how long a follower goes without its leader before it seeks election; the same on all nodes", node.DefaultElectionTimeout,
		between("election-timeout", node.MinElectionTimeout, node.MaxElectionTimeout))
	disk := c.duration("disk-timeout", "how long one call of the disk may take before the node stops for good", node.DefaultDiskTimeout,
		between("disk-timeout", node.MinDiskTimeout, tenure.MaxTTL))
	insecure := c.toggle(beyondLoopback, "listen in plain text where other machines can connect: whoever can, can do everything")
	verbose := c.toggle("verbose", "log debugging details, too")
	c.afterwards(func() error {
		switch {
		case *peers == "" && *join == "":
			return c.usage("--peers ID=HOST:PORT,... or --join HOST:PORT is missing")
		case *peers != "" && *join != "":
			return c.usage("--peers and --join exclude each other: a node either founds a cluster or joins one")
		case *nonvoter && *join == "":
			return c.usage("--nonvoter needs --join: the nodes that found a cluster all vote")
		case !*insecure:
			return c.refuse("--listen", checkLoopback(*listen, "a loopback address, since nodes talk in plain text; or say --"+beyondLoopback))
		}
		return nil
	})
	return func(ctx context.Context) error {
		cfg.ID, cfg.Dir, cfg.Listen, cfg.Advertise = *id, *data, *listen, *advertise
		cfg.Join, cfg.Nonvoter, cfg.LargestTTL = *join, *nonvoter, *largest
		cfg.ElectionTimeout, cfg.DiskTimeout = *election, *disk
		cfg.Logger = c.logger(hclog.Info, *verbose)
		return serve(ctx, *cfg)
	}
}

// serve runs a node until it fails or a signal comes.
func serve(ctx context.Context, cfg node.Config) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	n, err := node.Open(ctx, cfg)
	if err != nil {
		return err
	}
	cfg.Logger.Info("listening", "id", cfg.ID, "addr", n.Addr(), "data", cfg.Dir)
	go func() {
		if n.WaitReady(ctx) == nil {
			cfg.Logger.Info("ready", "cluster", n.Status().ClusterID)
		}
	}()
	select {
	case <-n.Done():
		return fmt.Errorf("node %s stopped: %w", cfg.ID, n.Err())
	case <-ctx.Done():
		cfg.Logger.Info("stopping; a second signal ends the process at once")
		return n.Close()
	}
}

// logger returns where nodes log: standard error, from a level on.
func (c *call) logger(level hclog.Level, verbose bool) hclog.Logger {
	if verbose {
		level = hclog.Debug
	}
	return hclog.New(&hclog.LoggerOptions{Name: "tenure", Level: level, Output: c.stderr, JSONFormat: c.out.json()})
}

// parsePeers reads a list such as n1=10.0.0.1:7400,n2=10.0.0.2:7400.
func parsePeers(text string) ([]node.Peer, error) {
	var peers []node.Peer
	for _, entry := range strings.Split(text, ",") {
		id, addr, ok := strings.Cut(entry, "=")
		if !ok {
			return nil, invalid("peers", strconv.Quote(entry), "ID=HOST:PORT, and more after commas")
		}
		peers = append(peers, node.Peer{ID: id, Addr: addr})
	}
	return peers, nil
}

// checkLoopback refuses an address that other machines can connect to, or may.
func checkLoopback(addr, bound string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return invalid("listen", strconv.Quote(addr), "HOST:PORT")
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return invalid("listen", strconv.Quote(addr), bound)
	}
	return nil
}
