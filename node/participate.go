package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure"
	"example.com/tenure/node/internal/storage"
)

// changeIdentity changes what the node's data says it is, on the disk first.
func (n *Node) changeIdentity(change func(*identity) error) error {
	n.founding.Lock()
	defer n.founding.Unlock()
	i := n.identity()
	if err := change(&i); err != nil {
		return err
	}
	if err := i.save(stableKeeper{n.guard.ForNode().Stable}); err != nil {
		return err
	}
	n.who.Store(&i)
	return nil
}

// participate starts Raft, once. The identity on the disk holds the cluster id.
func (n *Node) participate(ctx context.Context) error {
	n.founding.Lock()
	defer n.founding.Unlock()
	if n.raft.Load() != nil || n.ctx.Err() != nil {
		return n.Err()
	}
	n.transport = n.openTransport()
	stores := n.guard.ForRaft()
	config := n.raftConfig()
	var r *raft.Raft
	var failed error
	started := storage.Go(func() {
		if failed = n.bootstrap(config, stores); failed == nil {
			r, failed = n.newRaft(config, stores)
		}
	})
	select {
	case err := <-started:
		if err = errors.Join(err, failed, n.Err()); err != nil {
			go n.shutLate(nil, &r)
			return fmt.Errorf("starting Raft: %w", err)
		}
	case <-n.ctx.Done():
		go n.shutLate(started, &r)
		return fmt.Errorf("starting Raft: %w", n.Err())
	case <-ctx.Done():
		go n.shutLate(started, &r)
		return fmt.Errorf("starting Raft: %w", ctx.Err())
	}
	n.raft.Store(r)
	n.waiting.set("no leader is known: the voters are electing, or no majority of them is up and connected")
	close(n.member)
	n.background.start(func() { n.follow(n.ctx, r) })
	n.background.start(func() { n.watchLeader(r) })
	n.background.start(func() { n.boundLog(r) })
	n.background.start(n.compareStates)
	n.background.start(n.watchMembership)
	n.background.start(n.announce)
	if i := n.identity(); len(i.Founders) > 0 && !i.Told {
		n.background.start(n.tellFounders)
	}
	return nil
}

// cachedEntries is how many of the newest entries are kept in memory: what is
// about to be sent to the followers and to be applied, of up to 128 KiB each.
const cachedEntries = 32

// newRaft starts Raft over the stores, which it would otherwise ask for every
// entry that it has just stored: once for each follower and once to apply it.
func (n *Node) newRaft(config *raft.Config, stores storage.Stores) (*raft.Raft, error) {
	log, err := raft.NewLogCache(cachedEntries, stores.Log)
	if err != nil {
		return nil, err
	}
	return raft.NewRaft(config, n.machine, log, stores.Stable, stores.Snapshots, n.transport)
}

// shutLate ends a start of Raft that failed, or that nobody waits for any more:
// the closed storage ends one that is still under way.
func (n *Node) shutLate(started <-chan error, r **raft.Raft) {
	if started != nil {
		<-started
	}
	if *r != nil {
		(*r).Shutdown()
	}
	_ = n.transport.Close()
}

// bootstrap writes Raft's first configuration on the node that decided the
// founding, unless an earlier start did.
func (n *Node) bootstrap(config *raft.Config, stores storage.Stores) error {
	founders := n.identity().Founders
	if len(founders) == 0 {
		return nil
	}
	has, err := raft.HasExistingState(stores.Log, stores.Stable, stores.Snapshots)
	if err != nil {
		return err
	}
	if !has {
		return raft.BootstrapCluster(config, stores.Log, stores.Stable, stores.Snapshots, n.transport, configuration(founders))
	}
	return completeBootstrap(stores, configuration(founders))
}

// completeBootstrap writes the first entry of the log if a crash came between
// the first term, which BootstrapCluster writes before it, and the entry. In
// that state nothing was ever sent or voted for.
func completeBootstrap(stores storage.Stores, first raft.Configuration) error {
	last, err := stores.Log.LastIndex()
	if err != nil || last > 0 {
		return err
	}
	snapshots, err := stores.Snapshots.List()
	if err != nil || len(snapshots) > 0 {
		return err
	}
	return stores.Log.StoreLog(&raft.Log{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(first)})
}

// stableKeeper keeps the identity in the stable store.
type stableKeeper struct{ stable raft.StableStore }

// Read implements keeper. hashicorp/raft has a store say 'not found' in just
// these words.
func (k stableKeeper) Read(key []byte) ([]byte, error) {
	value, err := k.stable.Get(key)
	if err != nil && err.Error() == "not found" {
		return nil, nil
	}
	return value, err
}

// Write implements keeper.
func (k stableKeeper) Write(key, value []byte) error { return k.stable.Set(key, value) }

// A waiting is what the node waits for, for a person.
type waiting struct {
	mu   sync.Mutex
	text string
}

func (w *waiting) set(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = fmt.Sprintf(format, args...)
}

func (w *waiting) get() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text
}

// Ready reports, as an [*tenure.UnavailableError], why the node can't serve
// now: it has no cluster yet, it knows no leader, or it has stopped.
func (n *Node) Ready() error {
	switch {
	case n.Err() != nil:
		return &tenure.UnavailableError{Reason: "the node has stopped", Err: n.Err()}
	case n.raft.Load() == nil:
		return &tenure.UnavailableError{Reason: n.waiting.get()}
	}
	if _, addr := n.leader(); addr == "" {
		return &tenure.UnavailableError{Reason: n.waiting.get()}
	}
	if id, _ := n.machine.Cluster(); id == "" || n.age() < 0 {
		return &tenure.UnavailableError{Reason: "the node has not caught up with the cluster yet"}
	}
	return nil
}

// reasonOf returns an error's text as part of a sentence. That of an unavailable
// goes without what it says of a command, where there was none.
func reasonOf(err error) string {
	var u *tenure.UnavailableError
	switch {
	case !errors.As(err, &u):
		return err.Error()
	case u.Err == nil:
		return u.Reason
	}
	return u.Reason + ": " + reasonOf(u.Err)
}

// waitsFor is what a node that works waits for before it can serve, "" if it
// can.
func (n *Node) waitsFor() string {
	if n.Err() != nil {
		return ""
	}
	if err := n.Ready(); err != nil {
		return reasonOf(err)
	}
	return ""
}

// largestTTL is the cluster's, as far as this node knows.
func (n *Node) largestTTL() time.Duration {
	if _, largest := n.machine.Cluster(); largest > 0 {
		return largest
	}
	return tenure.MaxTTL
}
