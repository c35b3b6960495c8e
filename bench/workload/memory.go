package workload

import (
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/tenure/bench/cluster"
	"example.com/tenure/bench/contender"
	"example.com/tenure/node"
)

// memory measures what a lease takes of a server's live heap, with a million of
// them and keys of 24 bytes; of etcd's with a hundred thousand leases of a key
// each, since granting a million would take minutes. With the million it also
// measures how long a server takes to start again, how long a change of leader
// takes, and how long after the death of the leader a free key can be acquired.
func (b *Bench) memory(ctx context.Context) error {
	for _, system := range b.only(contender.Tenure, contender.TenureWAL, contender.Etcd) {
		c, err := b.start(ctx, kindOf(system))
		if err != nil {
			return err
		}
		if system == contender.Etcd {
			err = b.memoryOfEtcd(ctx, c)
		} else {
			err = b.million(ctx, c, system)
		}
		c.Close()
		if err != nil {
			return fmt.Errorf("memory of %s: %w", system, err)
		}
	}
	return nil
}

func (b *Bench) million(ctx context.Context, c *cluster.Cluster, system string) error {
	if err := b.leaderChange(ctx, c, system, "leader-change/no-leases"); err != nil {
		return err
	}
	if err := b.memoryOfTenure(ctx, c, system); err != nil {
		return err
	}
	if err := b.leaderChange(ctx, c, system, "leader-change/1m-leases"); err != nil {
		return err
	}
	return b.withMillion(ctx, c, system)
}

func (b *Bench) memoryOfTenure(ctx context.Context, c *cluster.Cluster, system string) error {
	before, err := largestHeap(c)
	if err != nil {
		return err
	}
	client, err := node.Dial(node.ClientConfig{Addrs: c.Addrs})
	if err != nil {
		return err
	}
	defer client.Close()
	began := time.Now()
	if _, err := fill(ctx, client, b.Million, time.Hour); err != nil {
		return err
	}
	b.logf("memory: %s acquired %d leases in %v", system, b.Million, time.Since(began).Round(time.Millisecond))
	b.Results.Add("memory/acquire-1m", system, "s", time.Since(began).Seconds())
	time.Sleep(time.Second) // the followers apply the last of them
	return b.addMemory(c, system, before, b.Million)
}

func (b *Bench) addMemory(c *cluster.Cluster, system string, before uint64, leases int) error {
	after, err := largestHeap(c)
	if err != nil {
		return err
	}
	perLease := (float64(after) - float64(before)) / float64(leases)
	b.Results.Add("memory/lease", system, "bytes", perLease)
	b.logf("memory: %s takes %.0f bytes a lease", system, perLease)
	return nil
}

// largestHeap returns the live heap of the server that has most.
func largestHeap(c *cluster.Cluster) (most uint64, err error) {
	states, err := c.States(true)
	for _, st := range states {
		most = max(most, st.Heap)
	}
	return most, err
}

// withMillion restarts servers that have a million leases.
func (b *Bench) withMillion(ctx context.Context, c *cluster.Cluster, system string) error {
	for trial := range min(b.Rounds, b.Trials) {
		leader, err := c.Leader()
		if err != nil {
			return err
		}
		follower := (leader + 1) % cluster.Size
		c.Stop(follower)
		took, err := c.Restart(ctx, follower)
		if err != nil {
			return err
		}
		b.Results.Add("start/1m", system, "s", took.Seconds())
		b.logf("start: %s serves after %v", system, took.Round(time.Millisecond))
		if err := c.WaitReady(ctx); err != nil {
			return err
		}
		if err := b.killLeader(ctx, c, system, trial, "failover/free-key/1m-leases"); err != nil {
			return err
		}
	}
	return nil
}

// How many leases of etcd's are granted at once: in a hurry, and where others are
// kept alive meanwhile, which would be starved.
const (
	grantWorkers = 256
	calmWorkers  = 8
)

func (b *Bench) memoryOfEtcd(ctx context.Context, c *cluster.Cluster) error {
	before, err := largestHeap(c)
	if err != nil {
		return err
	}
	client, err := contender.DialEtcd(c.Addrs)
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := grantMany(ctx, client, b.Leases, grantWorkers, 3600, true); err != nil {
		return err
	}
	return b.addMemory(c, contender.Etcd, before, b.Leases)
}

// grantMany grants leases, each with a key if that is wanted.
func grantMany(ctx context.Context, client *clientv3.Client, n, workers int, ttl int64, keys bool) ([]clientv3.LeaseID, error) {
	ids, errs := make([]clientv3.LeaseID, n), make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n && errs[w] == nil; i += workers {
				lease, err := client.Grant(ctx, ttl)
				if err == nil && keys {
					_, err = client.Put(ctx, leaseKey(i), "", clientv3.WithLease(lease.ID))
				}
				if errs[w] = err; err == nil {
					ids[i] = lease.ID
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}
