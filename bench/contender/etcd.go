package contender

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"
)

// DialEtcd returns a client of some servers of etcd's.
func DialEtcd(addrs []string) (*clientv3.Client, error) {
	endpoints := make([]string, len(addrs))
	for i, addr := range addrs {
		endpoints[i] = "http://" + addr
	}
	return clientv3.New(clientv3.Config{Endpoints: endpoints, DialTimeout: 5 * time.Second, Logger: zap.NewNop()})
}

// A mutexCycler is concurrency.Mutex on one session that all workers share. It
// asks the leader, which spares each request a hop.
type mutexCycler struct {
	client  *clientv3.Client
	session *concurrency.Session
}

func newMutexCycler(addrs []string) (Cycler, error) {
	client, err := DialEtcd(addrs[:1])
	if err != nil {
		return nil, err
	}
	session, err := concurrency.NewSession(client, concurrency.WithTTL(int(cycleTTL/time.Second)))
	if err != nil {
		client.Close()
		return nil, err
	}
	return &mutexCycler{client, session}, nil
}

// Cycle implements [Cycler].
func (c *mutexCycler) Cycle(ctx context.Context, worker int) error {
	m := concurrency.NewMutex(c.session, "/mutex/"+workerKey(worker))
	if err := m.Lock(ctx); err != nil {
		return err
	}
	return m.Unlock(ctx)
}

func (c *mutexCycler) Close() error {
	_ = c.session.Close()
	return c.client.Close()
}

// A leaseCycler gives each acquire a lease, so that each expires by itself.
type leaseCycler struct{ client *clientv3.Client }

func newLeaseCycler(addrs []string) (Cycler, error) {
	client, err := DialEtcd(addrs[:1])
	if err != nil {
		return nil, err
	}
	return &leaseCycler{client}, nil
}

// Cycle implements [Cycler].
func (c *leaseCycler) Cycle(ctx context.Context, worker int) error {
	lease, err := c.client.Grant(ctx, int64(cycleTTL/time.Second))
	if err != nil {
		return err
	}
	got, err := PutIfAbsent(ctx, c.client, "/lease/"+workerKey(worker), lease.ID)
	if err == nil && !got {
		err = fmt.Errorf("%s is held", workerKey(worker))
	}
	if err != nil {
		return err
	}
	_, err = c.client.Revoke(ctx, lease.ID) // drops the key, too
	return err
}

func (c *leaseCycler) Close() error { return c.client.Close() }

// PutIfAbsent makes a key that goes with a lease, unless there is one.
func PutIfAbsent(ctx context.Context, client *clientv3.Client, key string, lease clientv3.LeaseID) (bool, error) {
	r, err := client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, "", clientv3.WithLease(lease))).
		Commit()
	return err == nil && r.Succeeded, err
}
