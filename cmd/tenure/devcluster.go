package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure/node"
)

// A devCluster is the running nodes of a dev cluster.
type devCluster struct {
	ids   []string
	nodes []*node.Node
}

// openDevCluster starts the nodes. One that was removed from the cluster earlier
// is left out.
func openDevCluster(ctx context.Context, home *devHome, log hclog.Logger) (*devCluster, error) {
	peers := make([]node.Peer, home.plan.Nodes)
	for i, addr := range home.plan.Addrs {
		peers[i] = node.Peer{ID: fmt.Sprintf("n%d", i+1), Addr: addr}
	}
	d := &devCluster{}
	for _, p := range peers {
		n, err := node.Open(ctx, node.Config{ID: p.ID, Listen: p.Addr, Peers: peers,
			Dir: filepath.Join(home.dir, p.ID), Network: home.network, Logger: log})
		if errors.Is(err, node.ErrRemoved) {
			log.Warn("not started", "node", p.ID, "reason", err)
			continue
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("node %s: %w", p.ID, err), d.close())
		}
		d.ids, d.nodes = append(d.ids, p.ID), append(d.nodes, n)
	}
	return d, nil
}

// patience is how long a cluster may take to come up before it is said what it
// waits for.
const patience = 5 * time.Second

// waitReady waits until all nodes can serve.
func (d *devCluster) waitReady(ctx context.Context, note func(format string, args ...any)) error {
	for i, n := range d.nodes {
		for {
			err := d.waitPatiently(ctx, n)
			if err == nil {
				break
			}
			if n.Err() != nil || ctx.Err() != nil {
				return fmt.Errorf("node %s: %w", d.ids[i], err)
			}
			note("node %s is not ready yet: %s", d.ids[i], n.Status().WaitsFor)
		}
	}
	return nil
}

func (d *devCluster) waitPatiently(ctx context.Context, n *node.Node) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return n.WaitReady(ctx)
}

// watch returns when ctx ends or no node is left. It notes each node that
// stops.
func (d *devCluster) watch(ctx context.Context, note func(format string, args ...any)) error {
	stopped := make(chan int)
	for i, n := range d.nodes {
		go func() {
			select {
			case <-n.Done():
			case <-ctx.Done():
				return
			}
			select {
			case stopped <- i:
			case <-ctx.Done():
			}
		}()
	}
	for range d.nodes {
		select {
		case <-ctx.Done():
			return nil
		case i := <-stopped:
			note("node %s stopped: %v", d.ids[i], d.nodes[i].Err())
		}
	}
	return errors.New("no node is left")
}

// close closes all nodes at once: there is nobody to hand leadership to.
func (d *devCluster) close() error {
	var (
		wg   sync.WaitGroup
		errs = make([]error, len(d.nodes))
	)
	for i, n := range d.nodes {
		wg.Go(func() { errs[i] = n.Close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
