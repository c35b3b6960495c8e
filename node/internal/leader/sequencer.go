package leader

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/fsm"
	"example.com/tenure/node/internal/machine"
)

// Config is what a [Sequencer] needs.
type Config struct {
	Machine *machine.Machine
	Clock   tenure.Clock // the node's own
	// Propose hands an entry to Raft and answers once. It must not block.
	Propose func(entry []byte) <-chan Outcome
	// Stalled says that the disk takes so long that somebody else should lead.
	Stalled func() bool
	// Founding is proposed as long as no entry has founded the cluster.
	Founding fsm.Settings
	// Fail is told of a violated invariant, which stops the node.
	Fail func(error)
}

// An Outcome is what became of a proposed entry.
type Outcome struct {
	Applied      *machine.Applied // nil if Err says why there is none
	Err          error
	MaybeApplied bool // the entry may have been applied, or still be; set only with Err
	Over         bool // this node does not lead any more
}

// Bounds of what waits at a leader. More is refused as unavailable, which was
// not applied.
const (
	MaxQueued  = 1 << 20 // commands that are in no entry yet
	MaxWaiting = 1 << 20 // places in all lines
)

// stallCheck is how often an entry in flight makes the leader look at the disk.
const stallCheck = 50 * time.Millisecond

// A Sequencer orders commands during one leadership of the node. Submit, End
// and Waiting can be called concurrently; Run runs once.
type Sequencer struct {
	cfg  Config
	wake chan struct{} // holds a token when there may be something to do

	mu      sync.Mutex
	over    bool       // nothing is taken any more
	inbox   []*Request // in order of arrival
	tenures []span     // renewals, releases and forgets that are in no entry yet
	asks    []item     // acquires that do not wait and are in no entry yet
	queued  int        // commands in inbox, tenures and asks
	refused []item     // acquires to be refused with the next entry
	reads   []*Request // to be told the index of the next entry
	lines   lines
	// patience is until when the tenures may wait for others; it counts only
	// if there are any.
	patience time.Duration
	timer    tenure.Timer // for the agenda and the patience
}

// A span is the commands of a request from one on.
type span struct {
	req  *Request
	from int
}

// An item is one command of a request.
type item struct {
	req  *Request
	item int
}

// New returns a sequencer that takes requests at once and answers them once Run
// runs.
func New(cfg Config) *Sequencer {
	return &Sequencer{cfg: cfg, wake: make(chan struct{}, 1), lines: newLines()}
}

// Submit queues a request. An error is definite: nothing of the request was or
// will be proposed, and Done is not called.
func (s *Sequencer) Submit(req *Request) error {
	req.Results = make([]tenure.Result, len(req.Commands))
	req.open = len(req.Commands)
	req.answered, req.proposed = make([]bool, req.open), make([]bool, req.open)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return &tenure.UnavailableError{Reason: "the node that led does not lead any more"}
	case s.queued+len(req.Commands) > MaxQueued:
		return &tenure.UnavailableError{Reason: fmt.Sprintf("the leader's queue of %d commands is full", MaxQueued)}
	}
	req.arrived = s.cfg.Clock.Now()
	s.queued += len(req.Commands)
	s.inbox = append(s.inbox, req)
	s.signal()
	return nil
}

// End says that the caller has gone for the given cause: whatever of the request
// is in no entry yet is dropped, and Done is not called any more. It returns
// what is known of each command.
func (s *Sequencer) End(req *Request, cause error) []tenure.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	req.ended = true
	for _, a := range req.askers {
		s.lines.leave(a)
	}
	req.askers = nil
	results := req.leftover(cause, s.lines.stands)
	s.signal()
	return results
}

// Waiting returns the number of places in all lines.
func (s *Sequencer) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines.waiting()
}

func (s *Sequencer) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run proposes entries until ctx ends, which it must as soon as the node leads
// no more, or until Raft says so itself. Then it answers all that wait.
func (s *Sequencer) Run(ctx context.Context) {
	defer s.close()
	if !s.establish(ctx) {
		return
	}
	for {
		e := s.next()
		if e == nil {
			select {
			case <-ctx.Done():
				return
			case <-s.wake:
			}
		} else if !s.commit(ctx, e) {
			return
		}
	}
}

// establish commits an entry of this leadership. Once it is applied, so is
// everything that earlier leaders committed, and only then is the state looked
// at.
func (s *Sequencer) establish(ctx context.Context) bool {
	e := &entry{}
	if id, _ := s.cfg.Machine.Cluster(); id == "" {
		e.add(fsm.Command{Kind: fsm.Cluster, Settings: s.cfg.Founding}, source{})
	}
	return s.commit(ctx, e)
}

// commit proposes an entry and gives out its results. It returns false when the
// leadership is over.
func (s *Sequencer) commit(ctx context.Context, e *entry) bool {
	data, err := fsm.AppendEntry(nil, e.commands)
	if err != nil {
		s.cfg.Fail(fmt.Errorf("encoding a log entry of %d commands: %w", len(e.commands), err))
		s.settle(e, Outcome{Err: err})
		return false
	}
	stall := time.NewTicker(stallCheck)
	defer stall.Stop()
	outcome := s.cfg.Propose(data)
	for {
		select {
		case o := <-outcome:
			s.settle(e, o)
			return !o.Over && (o.Err == nil || pause(ctx))
		case <-ctx.Done():
			s.settle(e, Outcome{Err: context.Cause(ctx), MaybeApplied: true})
			return false
		case <-stall.C:
			if s.cfg.Stalled() {
				s.settle(e, Outcome{Err: errStalled, MaybeApplied: true})
				return false
			}
		}
	}
}

// pause keeps a leader whose Raft refuses entries for a moment, during a
// transfer of leadership, from asking again and again. It returns false when
// the leadership is over.
func pause(ctx context.Context) bool {
	t := time.NewTimer(20 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

var errStalled = &tenure.UnavailableError{Reason: "the leader's disk does not answer", MaybeApplied: true}

// close answers all that wait: what is in no entry was not applied.
func (s *Sequencer) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.timer != nil {
		s.timer.Stop()
	}
	err := &tenure.UnavailableError{Reason: "the node that led does not lead any more"}
	for _, req := range s.inbox {
		s.refuseAll(req, err)
	}
	for _, t := range s.tenures {
		for i := t.from; i < len(t.req.Commands); i++ {
			t.req.answer(i, unavailable(t.req.command(i), err))
		}
	}
	for _, it := range append(s.asks, s.refused...) {
		it.req.answer(it.item, unavailable(it.req.command(it.item), err))
	}
	for _, req := range s.reads {
		req.finish(0, err)
	}
	for _, p := range s.lines.byAsk {
		for _, a := range p.askers {
			a.req.answer(a.item, unavailable(a.req.command(a.item), err))
		}
	}
	s.inbox, s.tenures, s.asks, s.refused, s.reads, s.lines = nil, nil, nil, nil, nil, newLines()
}

func (s *Sequencer) refuseAll(req *Request, err *tenure.UnavailableError) {
	if req.isRead() {
		req.finish(0, err)
		return
	}
	for i := range req.Commands {
		req.answer(i, unavailable(req.command(i), err))
	}
}
