package process

import (
	"context"
	"fmt"
	"time"

	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/node"
)

// node is a node of the cluster until it is told to close.
func (p *participant) node(ctx context.Context) error {
	n, err := p.open(ctx)
	if err != nil {
		return err
	}
	p.say(word{Open: true})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	looking := p.observe(ctx, n) // ends with ctx, or with the node
	for {
		select {
		case <-n.Done():
			return fmt.Errorf("the node stopped by itself: %w", n.Err())
		case o := <-p.orders:
			if o.Transfer {
				go p.transfer(ctx, n)
			}
			if !o.Close {
				continue
			}
		}
		p.tell(n) // the last
		stop()
		looking.Wait() // while the node stands: watches still tell
		return n.Close()
	}
}

func (p *participant) open(ctx context.Context) (*node.Node, error) {
	var peers []node.Peer
	for i := range p.setup.Plan.Nodes {
		name := plan.NodeName(i)
		peers = append(peers, node.Peer{ID: name, Addr: nodeAddr(name)})
	}
	addr, data := nodeAddr(p.setup.Name), boltDisk(p.setup.Dir)
	data.installs, data.writes = p.installed, p.watchDisk
	return node.Open(ctx, node.Config{
		ID: p.setup.Name, Listen: addr, Advertise: addr, Peers: peers,
		Clock:           p.clock,
		Storage:         data,
		Network:         newNetwork(p.setup.Dials, func(addr string) { p.say(word{Listens: addr}) }),
		ElectionTimeout: time.Duration(p.setup.Plan.Election), SnapshotThreshold: p.setup.Plan.Snapshot, Logger: p.logger,
	})
}

// transfer lets the node lead. It need not succeed: under other faults there
// may be nobody to hand over.
func (p *participant) transfer(ctx context.Context, n *node.Node) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := n.Transfer(ctx, p.setup.Name); err != nil {
		p.note("transfer: " + err.Error())
	}
}
