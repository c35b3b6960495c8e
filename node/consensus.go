package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure/fsm"
	"example.com/tenure/node/internal/leader"
	"example.com/tenure/node/internal/machine"
)

// raftConfig returns the settings of hashicorp/raft; docs/raft.md says why each
// is what it is.
func (n *Node) raftConfig() *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = n.identity().serverID()
	c.HeartbeatTimeout = n.cfg.ElectionTimeout
	c.ElectionTimeout = n.cfg.ElectionTimeout
	c.LeaderLeaseTimeout = n.cfg.ElectionTimeout
	c.CommitTimeout = min(50*time.Millisecond, n.cfg.ElectionTimeout/10)
	c.MaxAppendEntries = 32 // an entry is a whole batch, of up to 128 KiB
	c.ShutdownOnRemove = false
	c.SnapshotInterval = snapshotInterval
	c.SnapshotThreshold = n.cfg.SnapshotThreshold
	// One entry is in flight, so this is always far more than is uncommitted.
	c.TrailingLogs = max(minTrailingLogs, n.cfg.SnapshotThreshold/2)
	c.NoLegacyTelemetry = true
	c.Logger = raftLog{n.log.Named("raft"), n.ctx}
	return c
}

const (
	snapshotInterval = time.Second // to see whether one is due
	minTrailingLogs  = 64
)

// follow starts a sequencer whenever the node leads, until ctx ends.
func (n *Node) follow(ctx context.Context, r *raft.Raft) {
	look := time.NewTicker(n.cfg.ElectionTimeout) // should a change go unnoticed
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.LeaderCh():
		case <-look.C:
		}
		for ctx.Err() == nil && r.State() == raft.Leader {
			if n.guard.Stalled() {
				pause(ctx, n.cfg.ElectionTimeout/10)
				continue
			}
			n.lead(ctx, r)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// lead runs one leadership. It ends when Raft tells of any change, also of one
// from leader to leader, since what lies between is not known.
func (n *Node) lead(ctx context.Context, r *raft.Raft) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	watched := make(chan struct{})
	watching := n.background.start(func() {
		defer close(watched)
		select {
		case <-r.LeaderCh():
			end()
		case <-ctx.Done():
		}
	})
	if !watching {
		return
	}
	// The watcher must be gone before anybody else waits for the next change.
	defer func() { end(); <-watched }()
	p := &proposer{node: n, raft: r}
	i := n.identity()
	s := leader.New(leader.Config{
		Machine:  n.machine,
		Clock:    n.cfg.Clock,
		Propose:  p.propose,
		Stalled:  n.guard.Stalled,
		Founding: fsm.Settings{ClusterID: i.ClusterID, LargestTTL: i.largestTTL()},
		Fail:     n.fail,
	})
	n.machine.Lead(true)
	n.sequencer.Store(s)
	n.log.Info("leading", "term", r.CurrentTerm())
	s.Run(ctx)
	n.fresh.led(n.cfg.Clock.Now() - n.cfg.ElectionTimeout)
	n.sequencer.Store(nil)
	n.machine.Lead(false)
	n.log.Info("not leading any more")
}

// A proposer hands entries to Raft during one leadership.
type proposer struct {
	node     *Node
	raft     *raft.Raft
	refusals refusals
}

// refusals are those of entries because of a transfer of leadership, with no
// entry between them that was taken.
type refusals struct {
	mu     sync.Mutex
	last   time.Duration // since the node's start; 0 if there is none
	lasted time.Duration // without the pauses
}

// enqueueTimeout bounds how long Raft's main loop may take to look at an entry.
const enqueueTimeout = time.Second

// propose answers once. A future of hashicorp/raft may never be answered after
// a shutdown, so nobody waits for one but this goroutine; it ends because
// nothing is in flight when Close shuts Raft down.
func (p *proposer) propose(entry []byte) <-chan leader.Outcome {
	out := make(chan leader.Outcome, 1)
	started := p.node.proposals.start(func() {
		future := p.raft.Apply(entry, enqueueTimeout)
		err := future.Error()
		if err == nil {
			if applied, ok := future.Response().(*machine.Applied); ok {
				p.taken()
				out <- leader.Outcome{Applied: applied}
				return
			}
			err = errors.New("committed, but this node could not apply it")
		}
		out <- p.outcome(err)
	})
	if !started {
		out <- leader.Outcome{Err: ErrClosed, Over: true}
	}
	return out
}

// outcome sorts what Raft says into what the caller knows. When in doubt, the
// entry may have been applied.
func (p *proposer) outcome(err error) leader.Outcome {
	switch {
	case errors.Is(err, raft.ErrNotLeader):
		return leader.Outcome{Err: err, Over: true}
	case errors.Is(err, raft.ErrEnqueueTimeout):
		return leader.Outcome{Err: err}
	case errors.Is(err, raft.ErrLeadershipTransferInProgress):
		p.watchTransfer()
		return leader.Outcome{Err: err}
	default:
		return leader.Outcome{Err: err, MaybeApplied: true, Over: true}
	}
}

// transferPatience is how long a leader may refuse entries because of a
// transfer of leadership. hashicorp/raft#696: it can be for ever; then the node
// stops, and the others elect.
const (
	transferPatience = 10 * time.Second
	// transferPause is the longest time between two refusals that counts as
	// one of refusals: in a longer one, in which nobody asked for anything, the
	// transfer may have ended.
	transferPause = transferPatience / 2
)

// taken notes that Raft takes entries.
func (p *proposer) taken() {
	p.refusals.mu.Lock()
	defer p.refusals.mu.Unlock()
	p.refusals.last, p.refusals.lasted = 0, 0
}

// watchTransfer notes that Raft refuses entries because of a transfer.
func (p *proposer) watchTransfer() {
	now := time.Since(p.node.started) + 1
	if p.refusals.note(now) > transferPatience {
		p.node.fail(fmt.Errorf("this leader has refused all entries for %v because of a transfer of leadership that does not end: restart the node", transferPatience))
	}
}

// note notes a refusal, and returns how long there have been nothing but
// refusals, without the pauses.
func (r *refusals) note(now time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if since := now - r.last; r.last != 0 && since > 0 && since <= transferPause {
		r.lasted += since
	}
	r.last = max(r.last, now)
	return r.lasted
}
