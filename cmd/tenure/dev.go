package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/hashicorp/go-hclog"
)

var devVerb = verb{
	name:    "dev",
	summary: "run a whole cluster in one process, to try things out",
	help: `
The nodes n1, n2, ... listen on consecutive ports. When they are ready the
program says what to try; SIGINT (Ctrl-C) or SIGTERM stops them. With -o json it
says one object with the nodes' addresses instead.

Data is temporary and removed at the end, unless --data names a folder. Started
again with it, the cluster has the nodes, the ports and the leases that it had;
as after every restart, a running lease gets its full TTL once more.

It is a real cluster, as 'tenure serve' makes one of processes, but one whose
nodes all go down together.

  tenure dev
  tenure dev --nodes 5 --data ./cluster
`,
	prepare: prepareDev,
}

// mostDevNodes bounds --nodes: more in one process show nothing more.
const mostDevNodes = 9

func prepareDev(c *call) action {
	nodes := c.count("nodes", "how many (default 3)", 3, 1, mostDevNodes)
	listen := c.text(flagRow{name: "listen", value: "HOST:PORT",
		usage: "of the first node, on loopback; with port 0 each takes a free one (default " + defaultAddr + ")"}, checkDevListen)
	data := c.text(flagRow{name: "data", value: "DIR", usage: "keep the data there (default temporary)"}, func(dir string) error {
		if dir == "" {
			return invalid("data", `""`, "a folder")
		}
		return nil
	})
	verbose := c.toggle("verbose", "log debugging details, not just warnings")
	return func(ctx context.Context) error {
		if *listen == "" {
			*listen = defaultAddr
		}
		asked := devPlan{Nodes: *nodes, Listen: *listen}
		home, err := openDevHome(*data, asked, c.given)
		if err != nil {
			return c.devRefused(err)
		}
		return errors.Join(c.dev(ctx, home, quiet{c.logger(hclog.Warn, *verbose), *verbose}), home.close())
	}
}

// devRefused names the flag in an error about a value.
func (c *call) devRefused(err error) error {
	for _, name := range []string{"nodes", "listen"} {
		if isInvalid(err, name) {
			return c.refuse(dashed(name), err)
		}
	}
	return err
}

func checkDevListen(addr string) error {
	if err := checkLoopback(addr, "a loopback address: dev is for this machine"); err != nil {
		return err
	}
	if port, err := portOf(addr); err != nil || port > 65535-mostDevNodes {
		return invalid("listen", strconv.Quote(addr), fmt.Sprintf("HOST:PORT with a port from 0 to %d", 65535-mostDevNodes))
	}
	return nil
}

// quiet is a logger that says little while a cluster comes up and goes down:
// nodes that can't reach one another are no news then.
type quiet struct {
	hclog.Logger
	verbose bool
}

func (q quiet) level(level hclog.Level) {
	if !q.verbose {
		q.SetLevel(level)
	}
}

// dev runs the cluster until a signal comes or no node is left.
func (c *call) dev(ctx context.Context, home *devHome, log quiet) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	log.level(hclog.Error)
	cluster, err := openDevCluster(ctx, home, log)
	if err != nil {
		return err
	}
	err = c.serveDev(ctx, home, cluster, log)
	log.level(hclog.Off)
	return errors.Join(err, cluster.close())
}

func (c *call) serveDev(ctx context.Context, home *devHome, cluster *devCluster, log quiet) error {
	if err := cluster.waitReady(ctx, c.out.note); err != nil {
		if ctx.Err() != nil {
			return nil // the user changed their mind
		}
		return err
	}
	log.level(hclog.Warn)
	if err := c.greet(home); err != nil {
		return err
	}
	return cluster.watch(ctx, c.out.note)
}

// A greeting is what -o json says when the cluster is ready.
type greeting struct {
	Addrs []string `json:"addrs"`
	Data  string   `json:"data"`
	Keeps bool     `json:"keeps"` // the data stays when the process ends
}

// greet says that the cluster is ready and what to try.
func (c *call) greet(home *devHome) error {
	if c.out.json() {
		return c.out.object(greeting{Addrs: home.plan.Addrs, Data: home.dir, Keeps: !home.temporary})
	}
	var text strings.Builder
	fate := "is removed when it stops"
	if !home.temporary {
		fate = "stays in " + home.dir
	}
	fmt.Fprintf(&text, "%d nodes are ready at %s. Ctrl-C stops them; what they know %s.\nTry, in another terminal:\n\n",
		home.plan.Nodes, strings.Join(home.plan.Addrs, ", "), fate)
	first := home.plan.Addrs[0]
	if first != defaultAddr {
		fmt.Fprintf(&text, "  export %s=%s\n", addrVariable, strings.Join(home.plan.Addrs, ","))
	}
	fmt.Fprintf(&text, `  tenure acquire tenant-1 --owner me --ttl 1m
  tenure get tenant-1
  tenure run tenant-2 -- sh -c 'echo "mine at epoch $TENURE_EPOCH"; sleep 60'
  tenure watch
  tenure status
  curl -s http://%s/v1/leases/tenant-1
`, first)
	return c.out.text(text.String())
}

// portOf returns the port of an address.
func portOf(addr string) (int, error) {
	_, port, ok := cutLast(addr, ":")
	if !ok {
		return 0, os.ErrInvalid
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return int(n), err
}
