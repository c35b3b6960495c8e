package workload

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"

	"example.com/tenure"
	"example.com/tenure/bench/cluster"
	"example.com/tenure/bench/contender"
	"example.com/tenure/node"
)

// handovers is how many of them one round has.
const handovers = 50

// handover measures how long it takes from the call of a release until the one
// that waits for the key has it, and for tenure how many commits that is: a lone
// acquire is one.
func (b *Bench) handover(ctx context.Context) error {
	for _, system := range b.only(contender.Tenure, contender.TenureWAL, contender.Etcd) {
		c, err := b.start(ctx, kindOf(system))
		if err != nil {
			return err
		}
		for range b.Rounds {
			if system == contender.Etcd {
				err = b.handoverOfEtcd(ctx, c)
			} else {
				err = b.handoverOfTenure(ctx, c, system)
			}
			if err != nil {
				break
			}
		}
		c.Close()
		if err != nil {
			return fmt.Errorf("handover of %s: %w", system, err)
		}
	}
	return nil
}

// A hand is one who wants the key, with a connection of its own.
type hand struct {
	client *node.Client
	owner  string
	ids    int
}

func newHand(c *cluster.Cluster) (*hand, error) {
	client, err := node.Dial(node.ClientConfig{Addrs: c.Addrs})
	return &hand{client: client, owner: contender.NewOwner("hand")}, err
}

func (h *hand) acquire(ctx context.Context, key string, ttl, wait time.Duration) (tenure.Grant, error) {
	h.ids++
	r := h.client.Acquire(ctx, tenure.AcquireRequest{Owner: h.owner, Asks: []tenure.Ask{
		{Key: key, RequestID: fmt.Sprint(h.ids), TTL: ttl, Wait: wait},
	}})[0]
	return r.Grant, r.Err
}

func (h *hand) release(ctx context.Context, g tenure.Grant) error {
	ending := tenure.Ending{Key: g.Record.Key, Epoch: g.Record.Epoch}
	return h.client.Release(ctx, tenure.ReleaseRequest{Owner: h.owner, Endings: []tenure.Ending{ending}})[0].Err
}

// settleTime is long enough for a waiter to be in line.
const settleTime = 20 * time.Millisecond

func (b *Bench) handoverOfTenure(ctx context.Context, c *cluster.Cluster, system string) error {
	first, err := newHand(c)
	if err != nil {
		return err
	}
	defer first.client.Close()
	second, err := newHand(c)
	if err != nil {
		return err
	}
	defer second.client.Close()
	var commits, took []time.Duration
	for range handovers {
		time.Sleep(settleTime) // what follows is from rest, like the release
		began := time.Now()
		g, err := first.acquire(ctx, "handed", time.Minute, 0)
		if err != nil {
			return err
		}
		commits = append(commits, time.Since(began))
		waited := make(chan error, 1)
		var next tenure.Grant
		go func() {
			var err error
			next, err = second.acquire(ctx, "handed", time.Minute, time.Minute)
			waited <- err
		}()
		time.Sleep(settleTime)
		began = time.Now()
		if err := first.release(ctx, g); err != nil {
			return err
		}
		if err := <-waited; err != nil {
			return err
		}
		took = append(took, time.Since(began))
		if err := second.release(ctx, next); err != nil {
			return err
		}
	}
	commit, hand := middle(commits), middle(took)
	b.Results.Add("handover", system, "ms", milliseconds(hand))
	b.Results.Add("handover/commits", system, "commits", float64(hand)/float64(commit))
	b.logf("handover: %s takes %v, %.1f commits", system, hand.Round(10*time.Microsecond), float64(hand)/float64(commit))
	return nil
}

func middle(d []time.Duration) time.Duration {
	slices.Sort(d)
	return quantile(d, 0.5)
}

func (b *Bench) handoverOfEtcd(ctx context.Context, c *cluster.Cluster) error {
	addrs, err := leaderFirst(c)
	if err != nil {
		return err
	}
	var mutexes [2]*concurrency.Mutex
	for i := range mutexes {
		client, err := contender.DialEtcd(addrs[:1])
		if err != nil {
			return err
		}
		defer client.Close()
		session, err := concurrency.NewSession(client)
		if err != nil {
			return err
		}
		defer session.Close()
		mutexes[i] = concurrency.NewMutex(session, "/handed")
	}
	var took []time.Duration
	for range handovers {
		if err := mutexes[0].Lock(ctx); err != nil {
			return err
		}
		waited := make(chan error, 1)
		go func() { waited <- mutexes[1].Lock(ctx) }()
		time.Sleep(settleTime)
		began := time.Now()
		if err := mutexes[0].Unlock(ctx); err != nil {
			return err
		}
		if err := <-waited; err != nil {
			return err
		}
		took = append(took, time.Since(began))
		if err := mutexes[1].Unlock(ctx); err != nil {
			return err
		}
	}
	b.Results.Add("handover", contender.Etcd, "ms", milliseconds(middle(took)))
	b.logf("handover: etcd takes %v", middle(took).Round(10*time.Microsecond))
	return nil
}
