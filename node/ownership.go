package node

import (
	"context"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure"
	"example.com/tenure/node/internal/wire"
)

// An Ownership is what this node knows of a key's tenure, without asking
// anyone. It may be behind the cluster by what it says.
type Ownership struct {
	Owner     string        // "" if the key is free
	Epoch     uint64        // of the tenure that stands, or of the last
	Held      bool          // a tenure stands
	Expired   bool          // as this node judges, its TTL has passed
	Remaining time.Duration // until Expired
	// Age is how long ago this node last heard from its leader how far the log
	// was committed, and had applied that much: but for the time that the
	// message took, the answer is not older. It is 0 on the leader, which may
	// take an election timeout to notice that it was deposed, and negative while the node has not caught up since it was opened.
	Age time.Duration
}

// Owner looks a key up in the state that this node has, with no I/O: to route a
// request to the tenant's owner. It never blocks for long, and can be called
// concurrently.
func (n *Node) Owner(key string) Ownership {
	v := n.machine.View(key)
	o := Ownership{Epoch: v.Record.Epoch, Held: v.Record.Held, Expired: v.Expired, Remaining: v.Remaining, Age: n.age()}
	if o.Held {
		o.Owner = v.Record.Owner
	}
	return o
}

// silence returns how long ago this node heard of a leader at all; negative if
// it never did.
func (n *Node) silence() time.Duration {
	if n.sequencer.Load() != nil {
		return 0
	}
	r := n.raft.Load()
	if r == nil || r.LastContact().IsZero() {
		return -1
	}
	return time.Since(r.LastContact())
}

// Get returns a key's record, linearizably: it is at least as new as every
// answer that was given before the call. It waits for the leader to commit a
// log entry, and blocks until then or until ctx ends; then the error is an
// [*tenure.UnavailableError].
func (n *Node) Get(ctx context.Context, key string) (tenure.View, error) {
	if err := tenure.ValidateKey(key); err != nil {
		return tenure.View{}, err
	}
	return n.get(ctx, key, 1)
}

// get reads at the leader: it has applied what it committed, while a follower
// hears of a commit only with the next heartbeat.
func (n *Node) get(ctx context.Context, key string, hops int) (tenure.View, error) {
	for attempt := 0; ; attempt++ {
		view, err := n.tryGet(ctx, key, hops)
		if err == nil || hops == 0 {
			return view, unavailableKey(key, err)
		}
		if ended := n.router.backOff(ctx, attempt); ended != nil {
			return tenure.View{}, &tenure.UnavailableError{Key: key, Reason: "no leader confirmed the read: " + err.Error(), Err: ended}
		}
	}
}

func (n *Node) tryGet(ctx context.Context, key string, hops int) (view tenure.View, err error) {
	err = n.atLeader(ctx, hops, func(ctx context.Context, _ *raft.Raft) error {
		if err := n.catchUp(ctx); err != nil {
			return err
		}
		view = n.machine.View(key)
		return nil
	}, func(ctx context.Context, conn *wire.Conn) error {
		var answer wire.View
		err := call(ctx, conn, wire.OpGet, wire.FlagForwarded, &wire.Key{Key: key}, &answer)
		view = answer.View
		return err
	})
	return view, err
}

// List returns a page of records in the order of their keys. The first page is
// linearizable like [Node.Get]; a later one is at least as new as the page
// before it was on this node.
func (n *Node) List(ctx context.Context, l tenure.Listing) (tenure.Page, error) {
	l, err := validateListing(l)
	if err != nil {
		return tenure.Page{}, err
	}
	if l.Cursor == "" {
		if err := n.catchUp(ctx); err != nil {
			return tenure.Page{}, err
		}
	}
	return n.machine.List(l), nil
}

// catchUp waits until this node has applied everything that was acknowledged
// before the call.
func (n *Node) catchUp(ctx context.Context) error {
	ctx, cancel := n.bound(ctx)
	defer cancel()
	index, err := n.readIndex(ctx)
	if err == nil {
		err = n.machine.Await(ctx, index)
	}
	return asUnavailable(err)
}
