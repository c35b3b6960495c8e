package node_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure"
	"example.com/tenure/node"
)

// A cluster is some nodes over TCP on loopback, with their data on the disk.
type cluster struct {
	t     *testing.T
	peers []node.Peer
	dirs  map[string]string
	nodes map[string]*node.Node
	// change, if set, changes the config of every node that is opened.
	change func(*node.Config)
}

// newCluster founds a cluster of that many nodes and waits until all can serve.
func newCluster(t *testing.T, size int) *cluster { return newClusterWith(t, size, nil) }

// newClusterWith is newCluster with changed configs.
func newClusterWith(t *testing.T, size int, change func(*node.Config)) *cluster {
	t.Helper()
	c := &cluster{t: t, dirs: make(map[string]string), nodes: make(map[string]*node.Node), change: change}
	for i := range size {
		id := fmt.Sprint("n", i+1)
		c.peers = append(c.peers, node.Peer{ID: id, Addr: freeAddr(t)})
		c.dirs[id] = t.TempDir()
	}
	for _, p := range c.peers {
		c.open(p.ID)
	}
	c.ready()
	return c
}

// freeAddr returns a loopback address whose port is free.
func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (c *cluster) config(id string) node.Config {
	cfg := node.Config{ID: id, Dir: c.dirs[id], Peers: c.peers, ElectionTimeout: 200 * time.Millisecond, Logger: testLogger()}
	for _, p := range c.peers {
		if p.ID == id {
			cfg.Listen = p.Addr
		}
	}
	if c.change != nil {
		c.change(&cfg)
	}
	return cfg
}

func testLogger() hclog.Logger {
	level := hclog.Off
	if os.Getenv("TENURE_TEST_LOG") != "" {
		level = hclog.Debug
	}
	return hclog.New(&hclog.LoggerOptions{Level: level, Output: os.Stderr})
}

// open starts a node; the test's end closes it.
func (c *cluster) open(id string) *node.Node {
	c.t.Helper()
	n, err := node.Open(context.Background(), c.config(id))
	if err != nil {
		c.t.Fatalf("opening %s: %v", id, err)
	}
	c.nodes[id] = n
	c.t.Cleanup(func() { n.Close() })
	return n
}

// ready waits until every node can serve.
func (c *cluster) ready() {
	c.t.Helper()
	ctx := within(c.t, 20*time.Second)
	for id, n := range c.nodes {
		if err := n.WaitReady(ctx); err != nil {
			c.t.Fatalf("%s: %v", id, err)
		}
	}
}

// leader waits until a node leads and returns it.
func (c *cluster) leader() *node.Node {
	c.t.Helper()
	ctx := within(c.t, 20*time.Second)
	for ctx.Err() == nil {
		for _, n := range c.nodes {
			if n.Err() == nil && n.Status().Role == tenure.RoleLeader {
				return n
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	c.t.Fatal("no leader")
	return nil
}

// others returns the nodes that are open besides n.
func (c *cluster) others(n *node.Node) []*node.Node {
	var out []*node.Node
	for _, p := range c.peers {
		if o := c.nodes[p.ID]; o != nil && o != n && o.Err() == nil {
			out = append(out, o)
		}
	}
	return out
}

// within returns a context that bounds a step of a test.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func acquire(ctx context.Context, s tenure.Store, key, owner, id string, ttl, wait time.Duration) (tenure.Grant, error) {
	r := s.Acquire(ctx, tenure.AcquireRequest{Owner: owner, Asks: []tenure.Ask{{Key: key, RequestID: id, TTL: ttl, Wait: wait}}})[0]
	return r.Grant, r.Err
}

func renew(ctx context.Context, s tenure.Store, key, owner string, epoch uint64, ttl time.Duration) (tenure.Grant, error) {
	r := s.Renew(ctx, tenure.RenewRequest{Owner: owner, Renewals: []tenure.Renewal{{Key: key, Epoch: epoch, TTL: ttl}}})[0]
	return r.Grant, r.Err
}

func release(ctx context.Context, s tenure.Store, key, owner string, epoch uint64) error {
	return s.Release(ctx, tenure.ReleaseRequest{Owner: owner, Endings: []tenure.Ending{{Key: key, Epoch: epoch}}})[0].Err
}
