package watch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"example.com/tenure"
)

// A model is a ring without any cleverness: all entries ever, and how many of
// them are gone.
type model struct {
	size    int
	entries []modelEntry
	gone    int
}

type modelEntry struct {
	index  uint64
	events []tenure.Event
}

func (m *model) newest() uint64 {
	if len(m.entries) == 0 {
		return 0
	}
	return m.entries[len(m.entries)-1].index
}

// floor is the index after which everything is kept.
func (m *model) floor() uint64 {
	if m.gone == 0 {
		return 0
	}
	return m.entries[m.gone-1].index
}

func (m *model) add(index uint64, events []tenure.Event) {
	m.entries = append(m.entries, modelEntry{index, events})
	for kept := m.kept(); kept > m.size && m.gone < len(m.entries)-1; m.gone++ {
		kept -= len(m.entries[m.gone].events)
	}
}

func (m *model) kept() (n int) {
	for _, e := range m.entries[m.gone:] {
		n += len(e.events)
	}
	return n
}

// A modelWatcher says what a watcher has to see.
type modelWatcher struct {
	*model
	options Options
	at      uint64 // everything up to here was seen
	left    []tenure.Event
	waiting bool
	called  *modelEntry // the first that it selects since it waits
}

func (m *model) watch(o Options) *modelWatcher {
	w := &modelWatcher{model: m, options: o, at: m.newest()}
	if o.HasAfter {
		w.at = o.After
	}
	return w
}

func (w *modelWatcher) selected(e modelEntry) (events []tenure.Event) {
	for _, event := range e.events {
		key := event.Record.Key
		if event.Kind == tenure.EventMissed || w.options.Key == key || w.options.Key == "" && strings.HasPrefix(key, w.options.Prefix) {
			events = append(events, event)
		}
	}
	return events
}

// added tells a watcher that waits of a new entry.
func (w *modelWatcher) added(e modelEntry) {
	if w.waiting && w.called == nil && e.index > w.at && len(w.selected(e)) > 0 {
		w.called = &e
	}
}

// next returns what Next has to; false if it has to wait.
func (w *modelWatcher) next() (string, bool) {
	switch {
	case len(w.left) > 0:
	case w.called != nil:
		w.left, w.at = w.selected(*w.called), w.called.index
		w.called, w.waiting = nil, false
	case w.waiting:
		return "", false
	case w.at < w.floor():
		w.at = w.newest()
		return fmt.Sprintf("missed %d", w.at), true
	default:
		for _, e := range w.entries {
			if e.index > w.at {
				w.left, w.at = w.selected(e), e.index
			}
			if len(w.left) > 0 {
				break
			}
		}
	}
	if len(w.left) == 0 {
		w.waiting = true
		return "", false
	}
	e := w.left[0]
	w.left = w.left[1:]
	return text(e, len(w.left) > 0), true
}

// Whatever is appended, dropped and restored between them, watchers see what
// the model says: every event that they select, once and in order, or that
// they missed some.
func TestWatchersAgainstModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Rapid asks a *testing.T for its deadline, which a bubble has not.
		rapid.Check(struct{ testing.TB }{t}, func(t *rapid.T) {
			m := &model{size: rapid.IntRange(1, 12).Draw(t, "size")}
			r := NewRing(m.size)
			defer r.Close()
			type pair struct {
				*Watcher
				model *modelWatcher
			}
			var watchers []pair
			add := func(index uint64, events []tenure.Event) {
				m.add(index, events)
				for _, w := range watchers {
					w.model.added(m.entries[len(m.entries)-1])
				}
				synctest.Wait() // for the crier
			}
			keys := rapid.SampledFrom([]string{"a", "ab", "abc", "b", "bc"})
			step := rapid.Uint64Range(1, 3)
			t.Repeat(map[string]func(*rapid.T){
				"append": func(t *rapid.T) {
					index := m.newest() + step.Draw(t, "step")
					events := granted(index, rapid.SliceOfN(keys, 0, 5).Draw(t, "keys")...)
					r.Append(index, events)
					if len(events) > 0 {
						add(index, events)
					}
				},
				"again": func(t *rapid.T) {
					index := rapid.Uint64Range(0, m.newest()).Draw(t, "index")
					r.Reset(index)
					r.Append(index, granted(index, "a"))
				},
				"reset": func(t *rapid.T) {
					index := m.newest() + step.Draw(t, "step")
					r.Reset(index)
					add(index, []tenure.Event{{Kind: tenure.EventMissed, Index: index}})
				},
				"watch": func(t *rapid.T) {
					o := Options{HasAfter: rapid.Bool().Draw(t, "resume")}
					if o.HasAfter {
						o.After = rapid.Uint64Range(0, m.newest()+4).Draw(t, "after")
					}
					switch rapid.IntRange(0, 2).Draw(t, "filter") {
					case 1:
						o.Key = keys.Draw(t, "key")
					case 2:
						o.Prefix = keys.Draw(t, "prefix")
					}
					watchers = append(watchers, pair{r.Watch(o), m.watch(o)})
				},
				"next": func(t *rapid.T) {
					if len(watchers) == 0 {
						t.Skip("none")
					}
					w := watchers[rapid.IntRange(0, len(watchers)-1).Draw(t, "watcher")]
					for range rapid.IntRange(1, 6).Draw(t, "times") {
						expected, ready := w.model.next()
						ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
						e, err := w.Next(ctx)
						cancel()
						if !ready && !errors.Is(err, context.DeadlineExceeded) {
							t.Fatalf("%+v: Next = %q, %v; want nothing", w.model.options, text(e, w.More()), err)
						}
						if ready && (err != nil || text(e, w.More()) != expected) {
							t.Fatalf("%+v: Next = %q, %v; want %q", w.model.options, text(e, w.More()), err, expected)
						}
					}
				},
			})
		})
	})
}
