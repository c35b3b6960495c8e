package contender

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"example.com/tenure"
	"example.com/tenure/node"
)

// cycleTTL is long enough that nothing expires in a cycle.
const cycleTTL = time.Minute

// A tenureCycler shares one client among all workers, as a process does.
type tenureCycler struct {
	client *node.Client
	owner  string
	ids    atomic.Int64
	spoilt sync.Map // by worker, how many of its keys a cycle of unknown outcome has left held
}

func newTenureCycler(addrs []string) (Cycler, error) {
	client, err := node.Dial(node.ClientConfig{Addrs: addrs})
	if err != nil {
		return nil, err
	}
	return &tenureCycler{client: client, owner: NewOwner("cycler")}, nil
}

// Cycle implements [Cycler].
func (c *tenureCycler) Cycle(ctx context.Context, worker int) error {
	key := workerKey(worker)
	before, spoilt := c.spoilt.Load(worker)
	if spoilt {
		key = fmt.Sprint(key, "-", before)
	}
	err := c.cycle(ctx, key)
	if err != nil {
		n, _ := before.(int)
		c.spoilt.Store(worker, n+1)
	}
	return err
}

func (c *tenureCycler) cycle(ctx context.Context, key string) error {
	granted := c.client.Acquire(ctx, tenure.AcquireRequest{Owner: c.owner, Asks: []tenure.Ask{
		{Key: key, RequestID: strconv.FormatInt(c.ids.Add(1), 36), TTL: cycleTTL},
	}})[0]
	if granted.Err != nil {
		return granted.Err
	}
	ending := tenure.Ending{Key: key, Epoch: granted.Grant.Record.Epoch}
	return c.client.Release(ctx, tenure.ReleaseRequest{Owner: c.owner, Endings: []tenure.Ending{ending}})[0].Err
}

func (c *tenureCycler) Close() error { return c.client.Close() }

var owners atomic.Int64

// NewOwner returns an owner that nobody else in this process, nor in an earlier
// one, has.
func NewOwner(name string) string {
	return name + "/" + strconv.FormatInt(time.Now().UnixNano(), 36) + "-" + strconv.FormatInt(owners.Add(1), 36)
}
