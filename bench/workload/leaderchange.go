package workload

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"example.com/tenure/bench/cluster"
)

// leaderChange measures how long it takes from a request that leadership be
// handed over until a free key was acquired from the new leader. No election
// timeout is part of it: what a leader has to do before it serves is, which may
// grow with the leases.
func (b *Bench) leaderChange(ctx context.Context, c *cluster.Cluster, system, name string) error {
	hand, err := newHand(c)
	if err != nil {
		return err
	}
	defer hand.client.Close()
	for trial := range b.Trials {
		time.Sleep(settleTime)
		leader, err := c.Leader()
		if err != nil {
			return err
		}
		began := time.Now()
		if err := transfer(ctx, c.Addrs[leader]); err != nil {
			return err
		}
		if _, err := hand.acquire(ctx, fmt.Sprintf("%s/%s/%d", name, system, trial), time.Minute, 0); err != nil {
			return err
		}
		took := time.Since(began)
		b.Results.Add(name, system, "ms", milliseconds(took))
		b.logf("%s: %s takes %v", name, system, took.Round(10*time.Microsecond))
		if err := c.WaitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

// transfer has a leader hand its leadership over.
func transfer(ctx context.Context, addr string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/v1/transfer", strings.NewReader("{}"))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("transfer: %s: %s", resp.Status, body)
	}
	return nil
}
