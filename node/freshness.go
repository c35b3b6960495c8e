package node

import (
	"sync"
	"time"
)

// freshness is how new this node's state is known to be.
type freshness struct {
	mu sync.Mutex
	// heardAt is when a leader last said how far the log is committed, and
	// commit is how far.
	heardAt time.Duration
	commit  uint64
	heard   bool
	// upTo is the newest heardAt whose commit index was applied since.
	upTo    time.Duration
	reached bool
}

// hear notes what a leader says; applied is how far this node has applied.
func (f *freshness) hear(now time.Duration, commit, applied uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle(applied)
	f.heardAt, f.commit, f.heard = now, commit, true
}

func (f *freshness) settle(applied uint64) {
	if f.heard && applied >= f.commit {
		f.upTo, f.reached = f.heardAt, true
	}
}

// led notes that this node led until then.
func (f *freshness) led(until time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.upTo, f.reached, f.heard = until, true, false
}

// age returns how old the state may be; negative if it never caught up.
func (f *freshness) age(now time.Duration, applied uint64) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.settle(applied); !f.reached {
		return -1
	}
	return now - f.upTo
}

// heard is told by the transport what a leader says of its log.
func (n *Node) heard(term, commit uint64) {
	r := n.raft.Load()
	if r == nil || term < r.CurrentTerm() {
		return // not started yet, or a leader that was deposed
	}
	n.fresh.hear(n.cfg.Clock.Now(), commit, r.AppliedIndex())
}

// age returns how old this node's state may be; negative if it has not caught
// up since it was opened.
func (n *Node) age() time.Duration {
	if n.sequencer.Load() != nil {
		return 0
	}
	r := n.raft.Load()
	if r == nil {
		return -1
	}
	return n.fresh.age(n.cfg.Clock.Now(), r.AppliedIndex())
}
