package check

import (
	"cmp"
	"fmt"
	"slices"

	"example.com/tenure/jepsen-lite/history"
)

// A watch is what one client was told.
type watch struct {
	client string
	told   []*history.Event
	// began and stood are nil where the history does not say from where on the
	// watch told everything, and up to where.
	began, stood *history.Event
}

func watchesOf(h *history.History) map[string]*watch {
	all := make(map[string]*watch)
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Watch {
			continue
		}
		w := all[e.Client]
		if w == nil {
			w = &watch{client: e.Client}
			all[e.Client] = w
		}
		switch e.F {
		case history.Began:
			w.began = e
		case history.Stood:
			w.stood = e
		default:
			w.told = append(w.told, e)
		}
	}
	return all
}

// inOrder finds events out of the log's order, and epochs that fall.
func (f *Finding) inOrder(w *watch) {
	var last *history.Event
	epochs := make(map[string]*history.Event)
	for _, e := range w.told {
		if last != nil && e.Index < last.Index {
			f.violate(Violation{
				Rule: "order", Claim: ClaimS, Key: e.Key,
				Sentence: fmt.Sprintf("watch %s told index %d at %s after index %d at %s", w.client, e.Index, at(e.T), last.Index, at(last.T)),
			}, e, last)
		}
		last = e
		if e.F == history.Missed {
			continue
		}
		before := epochs[e.Key]
		if before != nil && (e.Epoch < before.Epoch || e.F == history.Granted && e.Epoch == before.Epoch) {
			f.violate(Violation{
				Rule: "order", Claim: ClaimS, Key: e.Key,
				Sentence: fmt.Sprintf("watch %s told epoch %d of %s %s at %s, after epoch %d %s at %s",
					w.client, e.Epoch, e.Key, e.F, at(e.T), before.Epoch, before.F, at(before.T)),
			}, e, before)
		}
		epochs[e.Key] = e
	}
}

// A happening is what a watch should tell.
type happening struct {
	index uint64
	f     string
	key   string
	epoch uint64
	owner string
}

func (a happening) String() string {
	return fmt.Sprintf("%s of %s at epoch %d at index %d", a.f, a.key, a.epoch, a.index)
}

func (r *replayed) events() []happening {
	var out []happening
	for _, v := range r.commands {
		kind := ""
		switch {
		case !v.applied:
		case v.event.F == history.Acquire && v.epoch != v.before.epoch:
			kind = history.Granted
		case v.event.F == history.Release:
			kind = history.Released
		case v.event.F == history.Forget && v.forgotten != v.before.forgotten:
			kind = history.Forgotten
		}
		if kind != "" {
			out = append(out, happening{v.event.Index, kind, v.event.Key, v.epoch, v.owner})
		}
	}
	return out
}

// complete compares what a watch told with what happened: between its first and
// its last event, or from where it began and up to where it stood, if that is
// known.
func (f *Finding) complete(w *watch, all []happening) {
	next := 0 // of all, what is to be told next
	for i, e := range w.told {
		if i == 0 {
			next = w.first(all)
		}
		if e.F == history.Missed {
			for next < len(all) && all[next].index <= e.Index {
				next++
			}
			continue
		}
		got := happening{e.Index, e.F, e.Key, e.Epoch, e.Owner}
		if next < len(all) && all[next] == got {
			next++
			continue
		}
		want := "nothing"
		if next < len(all) {
			want = all[next].String()
		}
		f.violate(Violation{
			Rule: "complete", Claim: ClaimS, Key: e.Key,
			Sentence: fmt.Sprintf("watch %s told at %s: %v, where the log has next: %s", w.client, at(e.T), got, want),
		}, e)
		return // what follows is shifted
	}
	if len(w.told) == 0 && w.began != nil {
		next = w.first(all)
	}
	if w.stood == nil || w.began == nil && len(w.told) == 0 || next == len(all) || all[next].index > w.stood.Index {
		return
	}
	f.violate(Violation{
		Rule: "silent", Claim: ClaimS, Key: all[next].key,
		Sentence: fmt.Sprintf("watch %s stood until %s, when all up to index %d had been applied, and has never told: %v",
			w.client, at(w.stood.T), w.stood.Index, all[next]),
	}, w.stood)
}

// first returns the place in all of what the watch tells first. It may have
// begun within an entry, or before the index that it says.
func (w *watch) first(all []happening) int {
	after := func(index uint64) int {
		i, _ := slices.BinarySearchFunc(all, index, func(a happening, index uint64) int { return cmp.Compare(a.index, index) })
		return i
	}
	if w.began != nil && (len(w.told) == 0 || w.told[0].Index > w.began.Index) {
		return after(w.began.Index + 1)
	}
	e := w.told[0]
	next := after(e.Index)
	for e.F != history.Missed && next < len(all) && all[next].index == e.Index && all[next] != (happening{e.Index, e.F, e.Key, e.Epoch, e.Owner}) {
		next++
	}
	return next
}
