package process

import (
	"context"

	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/workload"
	"example.com/tenure/node"
)

// replica does the plan's workloads until it is told to close.
func (p *participant) replica(ctx context.Context) error {
	var addrs []string
	for i := range p.setup.Plan.Nodes {
		addrs = append(addrs, nodeAddr(plan.NodeName(i)))
	}
	client, err := node.Dial(node.ClientConfig{Addrs: addrs, Network: newNetwork(p.setup.Dials, nil), Clock: p.clock, Logger: p.logger})
	if err != nil {
		return err
	}
	work, err := workload.Start(ctx, workload.Config{
		Name: p.setup.Name, Plan: p.setup.Plan, Store: client, Clock: p.clock, Journal: p.journal, Copies: p,
		Folder: p.setup.Files, Pass: p.pass, Logger: p.logger,
	})
	if err != nil {
		return err
	}
	p.say(word{Open: true})
	for o := range p.orders {
		if o.Close {
			break
		}
	}
	work.Close()
	return client.Close()
}
