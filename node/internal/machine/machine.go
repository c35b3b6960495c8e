package machine

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure"
	"example.com/tenure/fsm"
	"example.com/tenure/node/internal/watch"
)

// Config is what a [Machine] needs.
type Config struct {
	Clock tenure.Clock // the node's own; judges expiry
	// StoredAt returns the instant at which the entry of that index and term
	// was stored, if it is known. Such an instant lies after the holder's
	// request and before the apply, so it is as safe and tighter.
	StoredAt func(index, term uint64) (time.Duration, bool)
	// Fail is told, once, why nothing can be applied any more. It must not
	// block.
	Fail func(error)
	Ring *watch.Ring // of the node's watches
	// Configured is told of every configuration that was committed, in order,
	// also of those of before a restart; nil is not told. It must not block.
	Configured func(raft.Configuration)
}

// A Machine is the node's replica of the state and what the node saw of it. It
// implements [raft.FSM] and [raft.ConfigurationStore]; everything else can be called concurrently.
type Machine struct {
	cfg Config
	// leading makes Apply hand out results; a follower has no use for them.
	leading atomic.Bool

	seed fsm.Option

	mu       sync.RWMutex
	state    *fsm.State
	observed observed
	marker   time.Duration // when the standing restore marker was first seen
	applied  uint64        // index of the newest entry that is in state
	failed   error
	history  history
	arrivals arrivals

	scratch []fsm.Result // of a follower's Apply; only the apply goroutine uses it
}

var _ raft.ConfigurationStore = (*Machine)(nil)

// StoreConfiguration implements [raft.ConfigurationStore].
func (m *Machine) StoreConfiguration(_ uint64, c raft.Configuration) {
	if m.cfg.Configured != nil {
		m.cfg.Configured(c)
	}
}

// New returns a machine with an empty state.
func New(cfg Config) *Machine {
	// Nobody who chooses keys can know where they fall in this node's index.
	seed := fsm.WithSeed(rand.Uint64(), rand.Uint64())
	return &Machine{cfg: cfg, seed: seed, state: fsm.New(seed)}
}

// An Applied is what Apply gives to whoever proposed the entry.
type Applied struct {
	Index   uint64
	Results []fsm.Result // one for each command, in order
}

// Lead says whether this node proposes entries, so that their results are
// wanted.
func (m *Machine) Lead(leading bool) { m.leading.Store(leading) }

// Apply applies an entry. On the leader it returns an [*Applied], else nil; nil
// too if nothing can be applied any more, and then the outcome is unknown.
func (m *Machine) Apply(entry *raft.Log) any {
	if entry.Type != raft.LogCommand {
		return nil
	}
	leading := m.leading.Load()
	dst := m.scratch[:0]
	if leading {
		dst = nil
	}
	results, err := m.apply(entry, dst)
	if err != nil {
		m.cfg.Fail(err)
		return nil
	}
	if leading {
		return &Applied{Index: entry.Index, Results: results}
	}
	m.scratch = results
	return nil
}

func (m *Machine) apply(entry *raft.Log, dst []fsm.Result) (results []fsm.Result, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed != nil {
		return nil, m.failed
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("applying log entry %d: invariant violated: %v", entry.Index, p)
		}
		m.failed = err
	}()
	results, err = m.state.Apply(entry.Index, entry.Data, dst)
	if err != nil {
		return nil, fmt.Errorf("applying log entry %d: %w", entry.Index, err)
	}
	m.applied = entry.Index
	m.observe(entry, results)
	m.history.add(entry.Index, m.state.Checksum())
	m.cfg.Ring.Append(entry.Index, events(entry.Index, results))
	m.arrivals.reach(entry.Index)
	return results, nil
}

// observe stamps every grant of the entry with one instant: that of its
// storing if that is known for this index and term, else now.
func (m *Machine) observe(entry *raft.Log, results []fsm.Result) {
	at, ok := m.cfg.StoredAt(entry.Index, entry.Term)
	if !ok {
		at = m.cfg.Clock.Now()
	}
	for i := range results {
		r := &results[i]
		if r.Code == fsm.Granted || r.Code == fsm.Renewed {
			m.observed.set(r.Number.Slot, sighting{epoch: r.Record.Epoch, index: r.GrantIndex, ttl: r.TTL, at: at})
		}
	}
}

// events returns what watches see of an entry. Most entries renew only, and
// cost nothing here.
func events(index uint64, results []fsm.Result) []tenure.Event {
	var out []tenure.Event
	for i := range results {
		if kind := eventKind(&results[i]); kind != 0 {
			out = append(out, tenure.Event{Kind: kind, Index: index, Record: results[i].Record})
		}
	}
	return out
}

// eventKind returns 0 for what changed nothing that a watch reports.
func eventKind(r *fsm.Result) tenure.EventKind {
	switch {
	case r.Code == fsm.Granted:
		return tenure.EventGranted
	case r.Code == fsm.Released:
		return tenure.EventReleased
	case r.Code == fsm.Forgotten && !r.Repeated:
		return tenure.EventForgotten
	}
	return 0
}
