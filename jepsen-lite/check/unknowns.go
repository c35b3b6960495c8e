package check

import (
	"cmp"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// Operations of unknown outcome are what makes the search for an order
// expensive: each may come anywhere after its call, or nowhere. Most of them
// can be narrowed down without changing what is possible.

// sameTTL reports whether all that was asked for on a key has one TTL. Then a
// renewal of unknown outcome can be left out: it allows nothing that would not
// be allowed without it.
func sameTTL(ops []*history.Op) bool {
	var ttl time.Duration
	for _, op := range ops {
		if op.Invoke.TTL != 0 && ttl != 0 && op.Invoke.TTL != ttl {
			return false
		}
		ttl = max(ttl, op.Invoke.TTL)
	}
	return true
}

// A commandID is what tells commands of the log apart that different calls may
// have caused. Tries of one call share it.
type commandID struct {
	f, key, owner, req string
	epoch              uint64
}

func idOf(e *history.Event) commandID {
	id := commandID{f: e.F, key: e.Key, owner: e.Owner, epoch: e.Epoch, req: e.Req}
	if e.F == history.Acquire {
		id.epoch = 0
	}
	return id
}

// unknowns knows which commands are in the log, and by when.
type unknowns struct {
	logged bool                 // there is a log
	last   map[commandID]uint64 // the highest index of each command
	grants map[string][]ghost   // by key: acquires that took effect and whose answer never came
	index  []uint64             // rising
	by     []time.Duration      // when all entries up to index are surely in the log
}

func newUnknowns(h *history.History) *unknowns {
	u := &unknowns{last: make(map[commandID]uint64), grants: make(map[string][]ghost)}
	r := replay(h) // which also names the commands that have only a number
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Log {
			u.logged = true
			u.last[idOf(e)] = max(u.last[idOf(e)], e.Index)
		}
	}
	ops := answered(h)
	slices.SortFunc(ops, func(a, b *history.Op) int { return cmp.Compare(b.Complete.Index, a.Complete.Index) })
	earliest := history.Never // of the answers that name this index or a higher one
	for _, op := range ops {
		earliest = min(earliest, op.Return)
		u.index, u.by = append(u.index, op.Complete.Index), append(u.by, earliest)
	}
	slices.Reverse(u.index)
	slices.Reverse(u.by)
	u.findGhosts(h, r)
	return u
}

// A ghost is an acquire that the log granted, or whose TTL it took, and no
// answer tells of. One call
// sends its command again until it has an answer, so that it can be granted
// twice: if the first answer was lost, and its tenure was over by the time of
// the second.
type ghost struct {
	try   *history.Op // the first of its id
	index uint64
	ttl   time.Duration // that this one asked for
}

func (u *unknowns) findGhosts(h *history.History, r *replayed) {
	first := make(map[commandID]*history.Op)
	told := make(map[commandID]map[uint64]bool)
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Invoke.F != history.Acquire {
			continue
		}
		id := idOf(op.Invoke)
		if first[id] == nil {
			first[id], told[id] = op, make(map[uint64]bool)
		}
		if op.Outcome == history.OK {
			told[id][op.Complete.Index] = true
		}
	}
	for _, v := range r.commands {
		// A repeat within the tenure only extends it, which allows nothing
		// unless it raises the TTL that later answers tell.
		raises := v.applied && v.event.F == history.Acquire && v.ttl > v.before.ttl
		if id := idOf(v.event); (v.grants() || raises) && first[id] != nil && !told[id][v.event.Index] {
			u.grants[id.key] = append(u.grants[id.key], ghost{first[id], v.event.Index, v.event.TTL})
		}
	}
}

// ghosts returns the steps of a key that nobody was told of.
func (u *unknowns) ghosts(key string, rate float64) []*step {
	var out []*step
	for _, g := range u.grants[key] {
		ask := *g.try.Invoke
		ask.TTL = g.ttl
		out = append(out, &step{ask: &ask, call: g.try.Call, ret: max(g.try.Call, u.when(g.index)), rate: rate})
	}
	return out
}

// mayBeTwo reports whether, for all that is known without a log, a call may
// have been granted twice: it took so long that a first tenure can have
// expired.
func (u *unknowns) mayBeTwo(s *step) bool {
	return !u.logged && s.ask.F == history.Acquire && s.ok && s.ret-s.call > time.Duration(float64(s.ask.TTL)/max(1, s.rate))
}

// bound gives a step of unknown outcome the latest instant at which it can
// have taken place, and reports whether it can have taken place at all.
func (u *unknowns) bound(s *step) bool {
	switch {
	case !u.logged:
		return true
	case s.ask.F == history.Acquire:
		return false // its effects are among the ghosts
	}
	index, there := u.last[idOf(s.ask)]
	if !there {
		return false
	}
	// A stale command may be in the log from an earlier try.
	s.ret = max(s.call, u.when(index))
	return true
}

// when returns the instant by which an index was surely in the log, and
// applied.
func (u *unknowns) when(index uint64) time.Duration {
	if i, _ := slices.BinarySearch(u.index, index); i < len(u.by) {
		return u.by[i]
	}
	return history.Never
}
