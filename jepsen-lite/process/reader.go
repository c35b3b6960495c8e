package process

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/observer"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/workload"
	"example.com/tenure/node"
)

// reader is the host that the arena reads from. No fault strikes it.
const reader = "reader"

// observe starts what looks on from outside, until the end of the run.
func (a *arena) observe() (*sync.WaitGroup, error) {
	dials, err := a.dials(reader)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(a.ctx)
	a.stopReading = stop
	wg := &sync.WaitGroup{}
	for i := range a.Plan.Nodes {
		c, err := node.Dial(node.ClientConfig{Addrs: []string{nodeAddr(plan.NodeName(i))}, Network: newNetwork(dials, nil)})
		if err != nil {
			return nil, err
		}
		wg.Go(func() {
			randomly(a.Plan, a).Read(ctx, reader+"-"+plan.NodeName(i), c)
			_ = c.Close() // it has nothing to say
		})
	}
	wg.Go(func() {
		ticker := time.NewTicker(10 * time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				a.progress()
			case <-ctx.Done():
				return
			}
		}
	})
	return wg, nil
}

// randomly returns what looks at keys in an order of its own.
func randomly(p *plan.Plan, j workload.Journal) *observer.Observer {
	return &observer.Observer{Plan: p, Journal: j, Rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
}
