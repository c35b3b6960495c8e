package contender

import (
	"context"
	"fmt"
)

// The systems that are compared.
const (
	Tenure       = "tenure"
	TenureWAL    = "tenure-wal"
	Etcd         = "etcd"           // concurrency.Mutex, all on one session
	EtcdOwnLease = "etcd-own-lease" // a lease for each acquire
	Redis        = "redis"          // one server, SET NX PX, each command synced
)

// A Cycler acquires and releases keys. Its workers may do so concurrently.
type Cycler interface {
	// Cycle acquires a key of the worker's own and releases it.
	Cycle(ctx context.Context, worker int) error
	Close() error
}

// NewCycler returns a client of a system whose servers listen at addrs; the
// first one leads.
func NewCycler(system string, addrs []string) (Cycler, error) {
	switch system {
	case Tenure, TenureWAL:
		return newTenureCycler(addrs)
	case Etcd:
		return newMutexCycler(addrs)
	case EtcdOwnLease:
		return newLeaseCycler(addrs)
	case Redis:
		return newRedisCycler(addrs[0]), nil
	}
	return nil, fmt.Errorf("no system %q", system)
}

func workerKey(worker int) string { return fmt.Sprintf("tenant-%06d", worker) }
