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
	index  []uint64             // rising
	by     []time.Duration      // when all entries up to index are surely in the log
}

func newUnknowns(h *history.History) *unknowns {
	u := &unknowns{last: make(map[commandID]uint64)}
	replay(h) // which names the commands that have only a number
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
	return u
}

// bound gives a step of unknown outcome the latest instant at which it can
// have taken place, and reports whether it can have taken place at all.
func (u *unknowns) bound(s *step) bool {
	if !u.logged {
		return true
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
