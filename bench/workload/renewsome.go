package workload

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/tenure/bench/cluster"
	"example.com/tenure/bench/contender"
)

// renewSome measures how much of a core all three servers take together to have
// a hundred thousand leases with a TTL of ten seconds renewed, by a hundred
// holders: for etcd by streamed keep-alives. All systems are at it at the same
// time, and each round is a window of that.
func (b *Bench) renewSome(ctx context.Context) error {
	var keeping []keeper
	defer func() {
		for _, k := range keeping {
			k.stop()
			k.home.Close()
		}
	}()
	for _, system := range b.only(contender.Etcd, contender.Tenure, contender.TenureWAL) {
		c, err := b.start(ctx, kindOf(system))
		if err != nil {
			return err
		}
		k := keeper{system: system, home: c, stop: func() {}}
		keeping = append(keeping, k)
		if err := keeping[len(keeping)-1].begin(ctx, b); err != nil {
			return fmt.Errorf("renewals of %s: %w", system, err)
		}
	}
	time.Sleep(renewTTL)
	for _, k := range keeping {
		if err := b.profile(k.home, "renew-100k"); err != nil {
			return err
		}
	}
	for range b.Rounds {
		if err := b.window(keeping); err != nil {
			return err
		}
	}
	for _, k := range keeping {
		b.Results.Add("renew/100k/lost", k.system, "leases lost", float64(k.lost()))
	}
	return nil
}

// window measures one window of all that are at it.
func (b *Bench) window(keeping []keeper) error {
	before := make([]time.Duration, len(keeping))
	began := time.Now()
	for i, k := range keeping {
		var err error
		if before[i], err = k.home.CPU(); err != nil {
			return err
		}
	}
	time.Sleep(b.Window)
	for i, k := range keeping {
		after, err := k.home.CPU()
		if err != nil {
			return err
		}
		cores := (after - before[i]).Seconds() / time.Since(began).Seconds()
		b.Results.Add("renew/100k", k.system, "cores", cores)
		b.logf("renew/100k: the servers of %s use %.3f cores", k.system, cores)
	}
	return nil
}

// A keeper keeps the leases of one system.
type keeper struct {
	system string
	home   *cluster.Cluster
	stop   func()
	lost   func() int // is called once, at the end
}

func (k *keeper) begin(ctx context.Context, b *Bench) error {
	if k.system == contender.Etcd {
		return k.beginEtcd(ctx, b)
	}
	w, err := hire(ctx, k.home, b.Holders, b.Leases)
	if err != nil {
		return err
	}
	stop, used := make(chan struct{}), make(chan tally, 1)
	go func() { used <- w.use(stop) }()
	k.stop = w.dismiss
	k.lost = func() int {
		close(stop)
		t := <-used
		return t.lost + t.fenced
	}
	return nil
}

// beginEtcd has clients, as many as there are holders, keep leases alive, each
// from when it was granted. It goes first and takes its time, or granting would
// starve the keep-alives, and half of the leases would be gone.
func (k *keeper) beginEtcd(ctx context.Context, b *Bench) error {
	ctx, cancel := context.WithCancel(ctx)
	var clients []*clientv3.Client
	var wg sync.WaitGroup
	var ended atomic.Int64
	k.lost = func() int { return int(ended.Load()) }
	k.stop = func() {
		cancel()
		for _, c := range clients {
			_ = c.Close()
		}
		wg.Wait()
	}
	for i := range b.Holders {
		client, err := contender.DialEtcd(k.home.Addrs)
		if err != nil {
			return err
		}
		clients = append(clients, client)
		ids, err := grantMany(ctx, client, b.Leases*(i+1)/b.Holders-b.Leases*i/b.Holders, calmWorkers, int64(renewTTL/time.Second), false)
		if err != nil {
			return err
		}
		for _, id := range ids {
			alive, err := client.KeepAlive(ctx, id)
			if err != nil {
				return err
			}
			wg.Go(func() {
				for range alive {
				}
				if !errors.Is(ctx.Err(), context.Canceled) {
					ended.Add(1)
				}
			})
		}
	}
	return nil
}
