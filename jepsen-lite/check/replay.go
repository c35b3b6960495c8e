package check

import (
	"cmp"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// A row is a key's record while the committed log is replayed. It is written
// from DESIGN 2.2 and shares nothing with the product's state machine.
type row struct {
	known      bool // there is a record
	held       bool
	owner, req string
	epoch      uint64
	forgotten  uint64
	ttl        time.Duration
	grant      uint64 // grant index
}

// A version is a row as it stood from one log command on.
type version struct {
	row
	event   *history.Event // the command that made it, nil for the beginning
	applied bool           // the command took effect
	before  row
}

// grants reports whether the command began a tenure.
func (v *version) grants() bool {
	return v.applied && v.event.F == history.Acquire && (v.epoch != v.before.epoch || !v.before.held)
}

// A replayed is the committed log, applied.
type replayed struct {
	commands []*version            // in log order
	byKey    map[string][]*version // likewise, each list starts with the empty row
	floor    uint64
	tenures  []*history.Event // by number, from 1: the command that began it
	epochs   []uint64         // likewise: its epoch
}

// replay applies the log commands of a history in the order of the log. A
// command that names its tenure by number gets the names that it stands for.
func replay(h *history.History) *replayed {
	var log []*history.Event
	for i := range h.Events {
		if h.Events[i].Kind == history.Log {
			log = append(log, &h.Events[i])
		}
	}
	slices.SortStableFunc(log, func(a, b *history.Event) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Pos, b.Pos))
	})
	r := &replayed{byKey: make(map[string][]*version)}
	for _, e := range log {
		if e.F != history.Cluster {
			r.apply(e)
		}
	}
	return r
}

// at returns a key's versions.
func (r *replayed) at(key string) []*version {
	if r.byKey[key] == nil {
		r.byKey[key] = []*version{{}}
	}
	return r.byKey[key]
}

// name gives a command with a number its key, owner and epoch. A number that
// was not given yet leaves them empty.
func (r *replayed) name(e *history.Event) {
	if n := int(e.Number); n > 0 && n <= len(r.tenures) {
		e.Key, e.Owner, e.Epoch = r.tenures[n-1].Key, r.tenures[n-1].Owner, r.epochs[n-1]
	}
}

func (r *replayed) apply(e *history.Event) {
	r.name(e)
	list := r.at(e.Key)
	before := list[len(list)-1].row
	v := &version{row: before, before: before, event: e}
	v.applied = v.row.apply(e, r.floor)
	if v.grants() {
		r.tenures, r.epochs = append(r.tenures, e), append(r.epochs, v.epoch)
	}
	if v.known && !v.held && v.forgotten == v.epoch {
		r.floor = max(r.floor, v.epoch)
		v.known = false
	}
	r.commands = append(r.commands, v)
	r.byKey[e.Key] = append(list, v)
}

// apply reports whether the command took effect.
func (w *row) apply(e *history.Event, floor uint64) bool {
	mine := w.known && w.held && w.owner == e.Owner && (e.Epoch != 0 && w.epoch == e.Epoch || e.Epoch == 0 && w.req == e.Req)
	switch {
	case e.F == history.Acquire:
		return w.acquire(e, floor)
	case !mine:
		return false
	case e.F == history.Renew:
		w.ttl, w.grant = max(w.ttl, e.TTL), e.Index
	case e.F == history.Release:
		w.held, w.ttl, w.grant = false, 0, 0
	case e.F == history.Forget:
		w.forgotten = w.epoch
	}
	return true
}

func (w *row) acquire(e *history.Event, floor uint64) bool {
	same := w.known && w.owner == e.Owner && w.req == e.Req
	switch {
	case same && w.held:
		w.ttl, w.grant = max(w.ttl, e.TTL), e.Index
		return true
	case same:
		return false
	case w.known && w.held && (e.SeenEpoch != w.epoch || e.SeenIndex != w.grant):
		return false
	case !w.known:
		w.epoch, w.forgotten = floor, floor
	}
	w.known, w.held, w.owner, w.req = true, true, e.Owner, e.Req
	w.epoch++
	w.ttl, w.grant = e.TTL, e.Index
	return true
}
