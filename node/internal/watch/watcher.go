package watch

import (
	"context"
	"sync"
	"sync/atomic"

	"example.com/tenure"
)

// Options select what a watcher sees: every key, the keys that start with
// Prefix, or Key alone, in which case Prefix is of no account.
type Options struct {
	Prefix string
	Key    string
	// After is the log index after whose changes the watch begins if HasAfter
	// is set; else it begins now. It may be an index that another node told, and
	// one that this node has not reached yet.
	After    uint64
	HasAfter bool
}

// A Watcher reads a ring at its own pace. Only Close may be called concurrently
// with the others.
type Watcher struct {
	ring   *Ring
	filter filter
	close  sync.Once
	done   chan struct{}

	at    *entry // the entry that is being read
	place int    // in at.events of what Next returns next; their number if at is done with
	after uint64 // of entries up to this index nothing is left to see

	// What the crier and a watcher that waits have in common. called is reading
	// while the watcher finds entries by itself. A watcher that has come to the
	// end of the list sets it to nil, and the crier sets it to the first entry
	// after seen that concerns the watcher, or to dropped if it can't tell.
	called atomic.Pointer[entry]
	seen   atomic.Uint64
	wake   chan struct{} // holds a token if called may have been set
}

// reading is what called is while the crier has nothing to tell.
var reading = &entry{}

// Watch begins a watch. It has to be closed.
func (r *Ring) Watch(o Options) *Watcher {
	w := &Watcher{
		ring:   r,
		filter: filter{prefix: o.Prefix, key: o.Key},
		done:   make(chan struct{}),
		wake:   make(chan struct{}, 1),
	}
	w.called.Store(reading)
	// First the crier, then the place: nothing falls between them.
	r.crier.add(w)
	w.begin(o)
	return w
}

// begin takes the watcher's place in the list.
func (w *Watcher) begin(o Options) {
	start := w.ring.newest.Load()
	w.after = start.index
	if o.HasAfter {
		w.after = o.After
		if start = w.ring.since(o.After); start == nil {
			start = &entry{index: o.After}
			start.next.Store(dropped)
		}
	}
	w.at, w.place = start, len(start.events)
}

// Next returns the next event, and blocks until there is one. The error is
// [ErrClosed], or that of ctx; after the latter the watch can go on.
func (w *Watcher) Next(ctx context.Context) (tenure.Event, error) {
	if err := w.ended(ctx); err != nil {
		return tenure.Event{}, err
	}
	for !w.More() {
		switch next := w.next(); next {
		case nil:
			if err := w.wait(ctx); err != nil {
				return tenure.Event{}, err
			}
		case dropped:
			if !w.refind() {
				return w.skip(), nil
			}
		default:
			w.enter(next)
		}
	}
	event := w.at.events[w.place]
	w.place = w.filter.first(w.at.events, w.place+1)
	return event, nil
}

// More reports whether the log entry of the event that Next returned last made
// further changes that the watcher sees, which Next returns without blocking. A
// watch begun after that event's index would miss them.
func (w *Watcher) More() bool { return w.place < len(w.at.events) }

// ended returns why Next must not go on, or nil.
func (w *Watcher) ended(ctx context.Context) error {
	select {
	case <-w.done:
		return ErrClosed
	case <-w.ring.crier.stop:
		return ErrClosed
	default:
		return ctx.Err()
	}
}

// next returns the entry to go on with, dropped if the ring has it no longer,
// or nil if there is none yet; then the crier calls.
func (w *Watcher) next() *entry {
	if e := w.called.Load(); e != reading {
		if e != nil {
			w.called.Store(reading)
		}
		return e
	}
	if e := w.at.next.Load(); e != nil {
		return e
	}
	w.seen.Store(max(w.after, w.at.index))
	w.called.Store(nil)
	// The crier may have come by before that, and then says nothing more of an
	// entry that was linked since the look above.
	e := w.at.next.Load()
	if e != nil {
		w.called.Store(reading)
	}
	return e
}

// call tells a watcher that waits of an entry, or with dropped that there were
// some; index is that of the newest one meant. It reports whether that woke it.
func (w *Watcher) call(e *entry, index uint64) bool {
	if w.called.Load() != nil || index <= w.seen.Load() || !w.called.CompareAndSwap(nil, e) {
		return false
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return true
}

func (w *Watcher) wait(ctx context.Context) error {
	select {
	case <-w.wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-w.done:
		return ErrClosed
	case <-w.ring.crier.stop:
		return ErrClosed
	}
}

// enter leaves the entry that was read for the one given.
func (w *Watcher) enter(e *entry) {
	w.after = max(w.after, w.at.index)
	w.at, w.place = e, len(e.events)
	if e.index > w.after {
		w.place = w.filter.first(e.events, 0)
	}
}

// refind finds the place anew where what was dropped is only what the watcher
// has seen, on another node if not on this one. It reports whether it could.
func (w *Watcher) refind() bool {
	w.after = max(w.after, w.at.index)
	at := w.ring.since(w.after)
	if at == nil {
		return false
	}
	w.at, w.place = at, len(at.events)
	return true
}

// skip goes on behind the newest entry. From the oldest one that is kept the
// watcher would soon fall behind again, and what lies between is part of the
// state that whoever missed changes looks at anyway.
func (w *Watcher) skip() tenure.Event {
	w.at = w.ring.newest.Load()
	w.place = len(w.at.events)
	w.after = max(w.after, w.at.index)
	return tenure.Event{Kind: tenure.EventMissed, Index: w.after}
}

// Close ends the watch and a Next that waits. It can be called again.
func (w *Watcher) Close() {
	w.close.Do(func() {
		close(w.done)
		w.ring.crier.remove(w)
	})
}
