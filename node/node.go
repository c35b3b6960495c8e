package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/tenure/fsm"
	"example.com/tenure/node/internal/leader"
	"example.com/tenure/node/internal/machine"
	"example.com/tenure/node/internal/port"
	"example.com/tenure/node/internal/storage"
	"example.com/tenure/node/internal/watch"
)

// ErrClosed is why a node or a client that was closed answers no more.
var ErrClosed = errors.New("closed")

// ErrRemoved is why a node that was removed from the cluster stopped. Its data
// is of no use any more: empty the folder and join anew, under any id.
var ErrRemoved = errors.New("this node was removed from the cluster: empty its data folder and let it join anew")

// A Node is a member of the cluster, or on its way to become one. Its methods
// can be called concurrently.
type Node struct {
	verbs
	cfg     Config
	log     hclog.Logger
	started time.Time

	guard     *storage.Guarded
	port      *port.Port
	http      *http.Server
	links     *links
	ring      *watch.Ring
	machine   *machine.Machine
	raft      atomic.Pointer[raft.Raft]
	transport *port.Transport
	sequencer atomic.Pointer[leader.Sequencer] // while the node leads
	who       atomic.Pointer[identity]

	// ctx ends when the node stops, and with it what runs in the background.
	ctx        context.Context
	stop       context.CancelCauseFunc
	background tasks
	proposals  tasks // that wait for a future of Raft's

	renewing  atomic.Bool // a snapshot is being taken for a follower
	fresh     freshness
	wasMember atomic.Bool   // a committed configuration had this node
	founding  sync.Mutex    // taken by whoever changes the identity
	waiting   waiting       // what the node waits for before it can serve
	opened    chan struct{} // closed once the port is open
	returned  chan struct{} // closed once Open has started all that it starts
	member    chan struct{} // closed once Raft runs
	closing   sync.Once
	closed    chan struct{} // closed once everything has stopped

	failure atomic.Pointer[error]
	failed  chan struct{} // closed with the failure
}

// Open starts a node. It returns once the node listens and, where its data says
// that it is a member already, takes part in Raft. A new node goes on to found
// or join its cluster in the background: WaitReady waits for that.
//
// The error is an [*tenure.InvalidError] for a malformed config. Data that
// can't be read, or is another node's, is an error that names it and what to
// do; nothing was changed then. ctx bounds Open only.
func Open(ctx context.Context, cfg Config) (*Node, error) {
	cfg, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	n := &Node{
		cfg:      cfg,
		log:      cfg.Logger.Named(cfg.ID),
		started:  time.Now(),
		opened:   make(chan struct{}),
		returned: make(chan struct{}),
		member:   make(chan struct{}),
		closed:   make(chan struct{}),
		failed:   make(chan struct{}),
		ring:     watch.NewRing(watch.DefaultSize),
	}
	n.ctx, n.stop = context.WithCancelCause(context.Background())
	n.verbs = verbs{router{way: n.way, clock: cfg.Clock, largest: n.largestTTL, done: n.failed, stopped: n.Err}}
	err = n.open(ctx)
	close(n.returned)
	if err != nil {
		n.teardown()
		return nil, err
	}
	return n, nil
}

// open starts everything; whoever calls it tears down what it started if it
// fails.
func (n *Node) open(ctx context.Context) error {
	stores, err := n.cfg.Storage.Open(n.log.Named("storage"))
	if err != nil {
		return err
	}
	n.guard = storage.Guard(stores, storage.GuardConfig{
		Clock:      n.cfg.Clock,
		CheckEntry: fsm.CheckEntry,
		Fail:       n.fail,
		StallAfter: 2 * n.cfg.ElectionTimeout,
		FailAfter:  max(n.cfg.DiskTimeout, 3*n.cfg.ElectionTimeout),
	})
	if err := n.check(ctx); err != nil {
		return err
	}
	if err := n.identify(); err != nil {
		return err
	}
	n.machine = machine.New(machine.Config{Clock: n.cfg.Clock, StoredAt: n.guard.StoredAt, Fail: n.fail, Ring: n.ring, Configured: n.configured})
	if err := n.listen(); err != nil {
		return err
	}
	if i := n.identity(); i.ClusterID != "" {
		if n.cfg.Join != "" && !i.Admitted && len(i.Founders) == 0 {
			n.background.start(n.seekAdmission)
		}
		return n.participate(ctx)
	}
	n.background.start(n.enter)
	return nil
}

// check reads everything that is stored, which takes as long as the disk does.
func (n *Node) check(ctx context.Context) error {
	checked := make(chan error, 1)
	go func() { checked <- n.guard.Check() }()
	select {
	case err := <-checked:
		return err
	case <-n.failed:
		return n.Err()
	case <-ctx.Done():
		return fmt.Errorf("reading %s: %w", n.guard.ForNode().Name, ctx.Err())
	}
}

// identify reads or makes the identity of the node's data.
func (n *Node) identify() error {
	i, err := loadIdentity(stableKeeper{n.guard.ForNode().Stable}, n.cfg.ID)
	if err != nil {
		return err
	}
	if i.Removed {
		return fmt.Errorf("%s: %w", n.guard.ForNode().Name, ErrRemoved)
	}
	n.who.Store(&i)
	return nil
}

func (n *Node) identity() identity { return *n.who.Load() }

// Addr returns the HOST:PORT at which the others reach the node.
func (n *Node) Addr() string { return n.port.Advertised() }

// Done is closed when the node has failed or was closed; Err says why.
func (n *Node) Done() <-chan struct{} { return n.failed }

// Err returns why the node stopped: [ErrClosed] after Close, [ErrRemoved], or
// what failed. It is nil while the node works.
func (n *Node) Err() error {
	if p := n.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// fail stops the node for good, and nothing else: the host process goes on. It
// does not block.
func (n *Node) fail(err error) {
	if !n.failure.CompareAndSwap(nil, &err) {
		return
	}
	close(n.failed)
	n.log.Error("the node stops", "error", err)
	n.stop(err)
	go n.teardown()
}

// Close hands leadership over if this node leads, and stops it. Stopping is not
// leaving: the node stays a member. Close returns within 5 s whatever the disk
// and the peers do; then the port is free, and nothing of the node runs but
// what a hung disk holds. It is safe to call again, and concurrently. The error
// is that of closing the storage.
func (n *Node) Close() error {
	n.handOver()
	err := ErrClosed
	if n.failure.CompareAndSwap(nil, &err) {
		close(n.failed)
	}
	n.stop(ErrClosed)
	return n.teardown()
}
