package workload

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/tenure"
	"example.com/tenure/bench/cluster"
	"example.com/tenure/bench/contender"
)

// What the dead holder had, and how old its last grant is when it dies.
const (
	deadTTL  = 5 * time.Second
	deadLast = 500 * time.Millisecond
)

// failover measures two things, for each system with its default timeouts. A
// leader and the holder of a key are killed together, half a second after the
// holder's last renewal: how long until another has the key. And a leader is
// killed: how long until a key that nobody holds can be acquired.
//
// For tenure the other stands in line for the key. For etcd it asks for the key
// every ten milliseconds, which is quicker than a waiting Mutex.
func (b *Bench) failover(ctx context.Context) error {
	for _, system := range b.only(contender.Tenure, contender.TenureWAL, contender.Etcd) {
		c, err := b.start(ctx, kindOf(system))
		if err != nil {
			return err
		}
		for trial := 0; trial < b.Trials && err == nil; trial++ {
			if err = b.killBoth(ctx, c, system, trial); err == nil {
				err = b.killLeader(ctx, c, system, trial, "failover/free-key")
			}
		}
		c.Close()
		if err != nil {
			return fmt.Errorf("failover of %s: %w", system, err)
		}
	}
	return nil
}

func (b *Bench) killBoth(ctx context.Context, c *cluster.Cluster, system string, trial int) error {
	leader, err := c.Leader()
	if err != nil {
		return err
	}
	key := fmt.Sprintf("dead-%d", trial)
	taker, err := newTaker(c, system, leader)
	if err != nil {
		return err
	}
	defer taker.close()
	last, err := taker.hold(ctx, key)
	if err != nil {
		return err
	}
	taken := make(chan error, 1)
	go func() { taken <- taker.take(ctx, key) }()
	time.Sleep(time.Until(last.Add(deadLast)))
	killed := time.Now()
	c.Kill(leader)
	if err := <-taken; err != nil {
		return err
	}
	b.Results.Add("failover/dead-holder", system, "s", time.Since(killed).Seconds())
	b.Results.Add("failover/dead-holder/since-grant", system, "s", time.Since(last).Seconds())
	b.logf("failover/dead-holder: %s takes %v", system, time.Since(killed).Round(time.Millisecond))
	return revive(ctx, c, leader)
}

// killLeader kills the leader and restarts it once a free key was acquired.
func (b *Bench) killLeader(ctx context.Context, c *cluster.Cluster, system string, trial int, name string) error {
	leader, err := c.Leader()
	if err != nil {
		return err
	}
	taker, err := newTaker(c, system, leader)
	if err != nil {
		return err
	}
	defer taker.close()
	if _, err := taker.hold(ctx, fmt.Sprintf("warm-up-%s-%d", name, trial)); err != nil {
		return err
	}
	killed := time.Now()
	c.Kill(leader)
	if err := taker.take(ctx, fmt.Sprintf("free-%s-%d", name, trial)); err != nil {
		return err
	}
	b.Results.Add(name, system, "s", time.Since(killed).Seconds())
	b.logf("%s: %s takes %v", name, system, time.Since(killed).Round(time.Millisecond))
	return revive(ctx, c, leader)
}

func revive(ctx context.Context, c *cluster.Cluster, i int) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if _, err := c.Restart(ctx, i); err != nil {
		return err
	}
	return c.WaitReady(ctx)
}

// A taker is a holder that dies, and another one.
type taker interface {
	// hold acquires a key, renews it once and returns when the renewal was
	// answered.
	hold(ctx context.Context, key string) (time.Time, error)
	// take returns once it has the key, for which it waits in line if it is
	// held.
	take(ctx context.Context, key string) error
	close()
}

func newTaker(c *cluster.Cluster, system string, leader int) (taker, error) {
	if system == contender.Etcd {
		client, err := contender.DialEtcd(others(c, leader))
		return &etcdTaker{client}, err
	}
	first, err := newHand(c)
	if err != nil {
		return nil, err
	}
	second, err := newHand(c)
	return &tenureTaker{first, second}, err
}

type tenureTaker struct{ first, second *hand }

func (t *tenureTaker) hold(ctx context.Context, key string) (time.Time, error) {
	g, err := t.first.acquire(ctx, key, deadTTL, 0)
	if err != nil {
		return time.Time{}, err
	}
	renewal := tenure.Renewal{Key: key, Epoch: g.Record.Epoch, TTL: deadTTL}
	err = t.first.client.Renew(ctx, tenure.RenewRequest{Owner: t.first.owner, Renewals: []tenure.Renewal{renewal}})[0].Err
	return time.Now(), err
}

func (t *tenureTaker) take(ctx context.Context, key string) error {
	_, err := t.second.acquire(ctx, key, time.Minute, time.Minute)
	return err
}

func (t *tenureTaker) close() {
	_ = t.first.client.Close()
	_ = t.second.client.Close()
}

type etcdTaker struct{ client *clientv3.Client }

func (t *etcdTaker) hold(ctx context.Context, key string) (time.Time, error) {
	lease, err := t.client.Grant(ctx, int64(deadTTL/time.Second))
	if err != nil {
		return time.Time{}, err
	}
	if _, err := contender.PutIfAbsent(ctx, t.client, key, lease.ID); err != nil {
		return time.Time{}, err
	}
	_, err = t.client.KeepAliveOnce(ctx, lease.ID)
	return time.Now(), err
}

// Between two attempts at a key of etcd's, and for each of them.
const (
	takeEvery   = 10 * time.Millisecond
	takeTimeout = 300 * time.Millisecond
)

func (t *etcdTaker) take(ctx context.Context, key string) error {
	for ctx.Err() == nil {
		attempt, cancel := context.WithTimeout(ctx, takeTimeout)
		got, err := contender.PutIfAbsent(attempt, t.client, key, clientv3.NoLease)
		cancel()
		if err == nil && got {
			return nil
		}
		time.Sleep(takeEvery)
	}
	return ctx.Err()
}

func (t *etcdTaker) close() { _ = t.client.Close() }
