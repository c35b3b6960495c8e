package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure"
	"example.com/tenure/fsm"
	"example.com/tenure/node/internal/wire"
)

// ClientConfig describes a [Client].
type ClientConfig struct {
	// Addrs are the HOST:PORT of some nodes of the cluster, best of all of
	// them. One is enough to find the others.
	Addrs []string
	// Network replaces TCP.
	Network Network
	// Clock replaces the system's monotonic clock in counting how long a call
	// has waited in line.
	Clock tenure.Clock
	// Logger is where the client logs; nil is nowhere.
	Logger hclog.Logger
}

// A Client is a [tenure.Store] for a process that embeds no node. It keeps one
// connection to the leader, which all callers share, and finds the leader
// again when it changes. Where the leader can't be reached, another node
// passes its requests on. Its methods can be called concurrently.
type Client struct {
	verbs
	cfg   ClientConfig
	links *links

	closing sync.Once
	closed  chan struct{}

	mu     sync.Mutex
	hint   string        // the leader's address, as far as it is known
	turn   int           // which of the addresses is tried next
	missed time.Duration // when the leader at hint could not be reached, 0 if it could
}

// retryLeader is how long other nodes pass requests on before the client tries
// the leader itself again.
const retryLeader = 5 * time.Second

// Dial returns a client. It connects when it is first used. The error is an
// [*tenure.InvalidError].
func Dial(cfg ClientConfig) (*Client, error) {
	if len(cfg.Addrs) == 0 {
		return nil, &tenure.InvalidError{Field: "addrs", Value: "none", Bound: "the HOST:PORT of at least one node"}
	}
	for _, addr := range cfg.Addrs {
		if err := validateAddr("addrs", addr, true); err != nil {
			return nil, err
		}
	}
	if cfg.Network == nil {
		cfg.Network = TCP()
	}
	if cfg.Clock == nil {
		cfg.Clock = tenure.MonotonicClock()
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	c := &Client{cfg: cfg, closed: make(chan struct{})}
	c.links = newLinks(cfg.Network, func() wire.Hello { return wire.Hello{EntryVersion: fsm.EntryVersion} })
	c.verbs = verbs{router{
		way:     c.way,
		clock:   cfg.Clock,
		largest: func() time.Duration { return tenure.MaxTTL },
		done:    c.closed,
		stopped: func() error { return ErrClosed },
	}}
	return c, nil
}

// Close ends the client's connections. Calls under way end as unavailable. It
// can be called again.
func (c *Client) Close() error {
	c.closing.Do(func() { close(c.closed) })
	c.links.close()
	return nil
}

// Get returns a key's record, linearizably, as the node that answers judges.
func (c *Client) Get(ctx context.Context, key string) (tenure.View, error) {
	if err := tenure.ValidateKey(key); err != nil {
		return tenure.View{}, err
	}
	for attempt := 0; ; attempt++ {
		var answer wire.View
		addr := c.next()
		conn, _, err := c.links.get(ctx, addr)
		if err == nil {
			err = call(ctx, conn, wire.OpGet, 0, &wire.Key{Key: key}, &answer)
		}
		if err == nil {
			return answer.View, nil
		}
		c.failed(addr)
		if ended := c.router.backOff(ctx, attempt); ended != nil {
			return tenure.View{}, &tenure.UnavailableError{Key: key, Reason: err.Error(), Err: ended}
		}
	}
}

// way returns a connection: straight to the leader where that is known and can
// be reached, and else to a node that passes requests on.
func (c *Client) way(ctx context.Context) (leaser, error) {
	addr, forward := c.choose()
	conn, _, err := c.links.get(ctx, addr)
	if err != nil {
		c.failed(addr)
		return nil, &tenure.UnavailableError{Reason: fmt.Sprintf("%s can't be reached", addr), Err: err}
	}
	flags := wire.FlagForwarded // never passed on: this client finds the leader itself
	if forward {
		flags = 0
	}
	return attempt{remote{conn: conn, flags: flags, told: c.told}, c, addr}, nil
}

// choose returns the address for the next attempt, and whether the node there
// should pass the request on.
func (c *Client) choose() (addr string, forward bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.missed != 0 && c.cfg.Clock.Now()-c.missed > retryLeader {
		c.missed = 0
	}
	if c.hint != "" && c.missed == 0 {
		return c.hint, false
	}
	return c.cfg.Addrs[c.turn%len(c.cfg.Addrs)], c.missed != 0
}

func (c *Client) next() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cfg.Addrs[c.turn%len(c.cfg.Addrs)]
}

// failed moves on from an address: at lack of an answer, too, and not only when
// the connection ends.
func (c *Client) failed(addr string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if addr == c.hint && c.missed == 0 {
		c.missed = c.cfg.Clock.Now() + 1
		return
	}
	c.turn++
}

// told takes what a node says of its leader.
func (c *Client) told(n *wire.NotLeader) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n.LeaderAddr == "" {
		c.turn++
		c.hint, c.missed = "", 0
		return
	}
	c.hint, c.missed = n.LeaderAddr, 0
}

// An attempt is one use of a connection, and notes whether it led anywhere.
type attempt struct {
	remote
	client *Client
	addr   string
}

func (a attempt) lease(ctx context.Context, b batch) []tenure.Result {
	results := a.remote.lease(ctx, b)
	// A call that stands in line may take as long as it likes; any other that
	// gets no answer is a reason to ask elsewhere.
	if a.remote.conn.Err() != nil || ctx.Err() != nil && b.waits == nil {
		a.client.failed(a.addr)
	} else if anyResult(results) {
		a.client.answered(a.addr)
	}
	return results
}

func (c *Client) answered(addr string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hint == "" {
		c.hint = addr
	}
}

// anyResult says that the log answered at least one command.
func anyResult(results []tenure.Result) bool {
	for i := range results {
		if results[i].Err == nil {
			return true
		}
	}
	return false
}
