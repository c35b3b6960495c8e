package leader

import (
	"time"

	"example.com/tenure/fsm"
	"example.com/tenure/node/internal/machine"
)

// An entry is the commands of one log entry and where each came from.
type entry struct {
	commands []fsm.Command
	sources  []source  // of each command
	bytes    int       // an estimate of its encoding, on the high side
	refused  []refusal // to be told once it is applied
	reads    []*Request
	releases map[*line]bool // lines whose keys it may release
}

// A source is where a command came from: a command of a request, or a place in
// a line; neither for the leader's own.
type source struct {
	req   *Request
	item  int
	place *place
}

// A refusal is an acquire that is in no entry, and the tenure it is told of.
type refusal struct {
	of   item
	held machine.Judgement // right before the entry that confirms it
}

// newEntry returns an entry with room for so many commands, as far as one may
// have them.
func newEntry(commands int) *entry {
	room := min(commands, maxCommands)
	return &entry{commands: make([]fsm.Command, 0, room), sources: make([]source, 0, room)}
}

func (e *entry) add(c fsm.Command, from source) {
	e.commands = append(e.commands, c)
	e.sources = append(e.sources, from)
	if from.req != nil {
		from.req.proposed[from.item] = true
	}
}

// Bounds of one entry. Everything else queues behind a large one, and a flood of
// them would make the log large before a snapshot can follow.
const (
	maxCommands = 16384
	maxBytes    = 128 << 10
)

// full says that an entry has used up a share, in quarters, of what it may hold.
func (e *entry) full(quarters int) bool {
	return len(e.commands) >= maxCommands/4*quarters || e.bytes >= maxBytes/4*quarters
}

// size estimates a command's encoding. An owner is written once an entry, but
// may be another in each command.
func size(c *fsm.Command) int {
	if c.Number != (fsm.Number{}) {
		return 12
	}
	return len(c.Key) + len(c.Owner) + len(c.RequestID) + 32
}

// next builds the next entry, or returns nil when there is nothing to do now.
// Nothing is in flight, so the applied state is all there is.
func (s *Sequencer) next() *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock.Now()
	s.keepAppointments(now)
	for _, req := range s.inbox {
		s.sort(req)
	}
	s.inbox = s.inbox[:0]
	if s.mayLinger(now) {
		s.setTimer(now)
		return nil
	}
	e := newEntry(s.queued)
	e.reads, s.reads = s.reads, nil
	s.takeMarker(e, now)
	// Renewals go first, since a flood of acquires must not end tenures, but
	// leave a part of every entry to the acquires.
	s.takeTenures(e, 3)
	e.arrange()
	s.takeHeads(e, now)
	s.takeAsks(e)
	s.takeTenures(e, 4)
	s.takeRefused(e)
	if s.setTimer(now); len(e.commands)+len(e.refused)+len(e.reads) == 0 {
		return nil
	}
	return e
}

// sort puts what arrived where it belongs.
func (s *Sequencer) sort(req *Request) {
	switch {
	case req.ended:
		s.queued -= len(req.Commands)
	case req.isRead():
		s.reads = append(s.reads, req)
	case req.Commands[0].Kind != fsm.Acquire:
		s.tenures = append(s.tenures, span{req: req})
		s.setPatience(req)
	default:
		for i := range req.Commands {
			s.sortAsk(req, i)
		}
	}
}

// sortAsk decides whether an acquire stands in line. One whose owner and request
// id made the key's present or last tenure doesn't: it is a retry, and the log
// knows its answer.
func (s *Sequencer) sortAsk(req *Request, i int) {
	c := req.command(i)
	switch {
	case s.cfg.Machine.MadeBy(c.Key, c.Owner, c.RequestID):
		s.asks = append(s.asks, item{req, i})
	case req.wait(i) > 0 && s.lines.waiting() >= MaxWaiting:
		s.queued--
		req.answer(i, unavailable(c, errLinesFull))
	case req.wait(i) > 0:
		s.queued--
		a := &asker{req: req, item: i}
		if req.askers == nil {
			req.askers = make(map[int]*asker, 1)
		}
		req.askers[i] = a
		s.lines.enter(a, req.arrived+req.wait(i))
	default:
		s.asks = append(s.asks, item{req, i})
	}
}

// keepAppointments wakes the lines whose keys may have expired, and takes those
// out of line whose wait is over: they are refused.
func (s *Sequencer) keepAppointments(now time.Duration) {
	for x := s.lines.agenda.take(now); x != nil; x = s.lines.agenda.take(now) {
		if x.line != nil {
			s.lines.wake(x.line)
		}
		if x.asker != nil {
			s.lines.leave(x.asker)
			delete(x.asker.req.askers, x.asker.item) // it stands in no line any more
			s.refused = append(s.refused, item{x.asker.req, x.asker.item})
		}
	}
}

// setTimer has the agenda, and the batches that wait for others, looked at again
// in time.
func (s *Sequencer) setTimer(now time.Duration) {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	due, ok := s.lines.agenda.next()
	if len(s.tenures) > 0 && (!ok || s.patience < due) {
		due, ok = s.patience, true
	}
	if ok {
		s.timer = s.cfg.Clock.AfterFunc(due-now, s.signal)
	}
}

// takeMarker clears a restore marker whose time is over, so that a later
// restart does not begin the wait again.
func (s *Sequencer) takeMarker(e *entry, now time.Duration) {
	number, left, standing := s.cfg.Machine.Marker()
	if !standing {
		return
	}
	if left == 0 {
		e.add(fsm.Command{Kind: fsm.Cluster, Settings: fsm.Settings{ClearMarker: number}}, source{})
		return
	}
	if due, ok := s.lines.agenda.next(); !ok || due > now+left {
		s.lines.agenda.add(&appointment{due: now + left})
	}
}

// takeTenures takes renewals, releases and forgets until a share of the entry,
// in quarters, is used up.
func (s *Sequencer) takeTenures(e *entry, quarters int) {
	done := 0
	for ; done < len(s.tenures) && !e.full(quarters); done++ {
		t := &s.tenures[done]
		for t.from < len(t.req.Commands) && !e.full(quarters) {
			to := min(t.from+translateChunk, len(t.req.Commands))
			if to < len(t.req.Commands) && Together(&t.req.Commands[to-1], &t.req.Commands[to]) {
				to++
			}
			s.takeSpan(e, t.req, t.from, to)
			t.from = to
		}
		if t.from < len(t.req.Commands) {
			break
		}
	}
	s.tenures = append(s.tenures[:0], s.tenures[done:]...)
}

// translateChunk is how many commands are translated to numbers, and then
// measured, at once.
const translateChunk = 256

// Together reports whether two commands in a row are one release that also
// forgets: no request and no entry may have the one without the other, or a
// failure in between would leave a tenure that is forgotten and stands.
func Together(c, next *fsm.Command) bool {
	return c.Kind == fsm.Forget && next.Kind == fsm.Release && c.Key == next.Key && c.Epoch == next.Epoch
}

func (s *Sequencer) takeSpan(e *entry, req *Request, from, to int) {
	s.queued -= to - from
	if req.ended {
		return
	}
	first := len(e.commands)
	for i := from; i < to; i++ {
		e.add(req.Commands[i], source{req: req, item: i})
	}
	s.cfg.Machine.Translate(e.commands[first:])
	for i := first; i < len(e.commands); i++ {
		e.bytes += size(&e.commands[i])
		s.follow(e, &e.commands[i])
	}
}

// follow has the head of a key's line follow the release of the key in the same
// entry: a hand-over then takes one commit. If the release turns out to be of a
// tenure that is over, the state machine tells the head that the key is held,
// and the head stays where it is.
func (s *Sequencer) follow(e *entry, c *fsm.Command) {
	if c.Kind != fsm.Release || len(s.lines.byKey) == 0 {
		return
	}
	if l, ok := s.lines.byKey[c.Key]; ok {
		if e.releases == nil {
			e.releases = make(map[*line]bool)
		}
		e.releases[l] = true
		s.lines.wake(l)
	}
}

func (s *Sequencer) takeHeads(e *entry, now time.Duration) {
	for _, l := range s.lines.takeReady() {
		if e.full(4) {
			s.lines.wake(l)
			continue
		}
		j := s.cfg.Machine.Judge(l.key)
		if !j.Grantable && !e.releases[l] {
			s.lines.visitAt(l, now+j.Remaining)
			continue
		}
		head := l.head()
		head.inFlight = true
		c := head.command
		c.Evidence = j.Evidence
		e.add(c, source{place: head})
		e.bytes += size(&c)
	}
}

// takeAsks takes the acquires that stand in no line. While the key has one they
// are refused, unless they are retries whose answer the log knows. This is
// decided only here, in order of arrival: whatever was asked earlier under the
// same id is in this entry at the latest.
func (s *Sequencer) takeAsks(e *entry) {
	done := 0
	for ; done < len(s.asks) && !e.full(4); done++ {
		ask := s.asks[done]
		if s.queued--; ask.req.ended {
			continue
		}
		c := *ask.req.command(ask.item)
		if s.lines.has(c.Key) && !s.cfg.Machine.MadeBy(c.Key, c.Owner, c.RequestID) {
			s.refused = append(s.refused, ask)
			continue
		}
		c.Evidence = s.cfg.Machine.Judge(c.Key).Evidence
		e.add(c, source{req: ask.req, item: ask.item})
		e.bytes += size(&c)
	}
	s.asks = append(s.asks[:0], s.asks[done:]...)
}

// takeRefused takes those who are refused, now that it is known what else the
// entry proposes. 'Held' is definite: who asks under an id that still stands in
// line, or that this entry proposes, may yet get the key and is not told it.
func (s *Sequencer) takeRefused(e *entry) {
	if len(s.refused) == 0 {
		return
	}
	proposed := make(map[ask]bool)
	for i := range e.commands {
		if c := &e.commands[i]; c.Kind == fsm.Acquire {
			proposed[askOf(c)] = true
		}
	}
	for _, it := range s.refused {
		c := it.req.command(it.item)
		if id := askOf(c); proposed[id] || s.lines.stands(id) {
			it.req.answer(it.item, unavailable(c, errStands))
			continue
		}
		e.refused = append(e.refused, refusal{it, s.cfg.Machine.Judge(c.Key)})
	}
	s.refused = nil
}
