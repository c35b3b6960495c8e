package httpapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"example.com/tenure"
)

var errFakeClosed = errors.New("the node\nis closed")

// Watch resumes exactly from what the fake has kept, which is nothing: a watch
// from before the present index has missed everything up to it.
func (f *fake) Watch(o WatchOptions) (Watcher, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken != nil {
		return nil, f.broken
	}
	w := &fakeWatcher{fake: f, options: o, news: make(chan struct{}, 1), done: make(chan struct{})}
	if o.HasAfter && o.After < f.index {
		w.queue = []change{{event: tenure.Event{Kind: tenure.EventMissed, Index: f.index}, last: true}}
		w.news <- struct{}{}
	}
	f.watchers[w] = true
	return w, nil
}

// closeWatches ends all watches as a node does that closes.
func (f *fake) closeWatches() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.watchers {
		w.end()
	}
}

type fakeWatcher struct {
	fake    *fake
	options WatchOptions
	news    chan struct{}
	done    chan struct{}
	once    sync.Once

	mu    sync.Mutex
	queue []change
	more  bool
}

func (w *fakeWatcher) add(events []tenure.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := len(w.queue)
	for _, e := range events {
		key := e.Record.Key
		if e.Index > w.options.After && (w.options.Key == key || w.options.Key == "" && strings.HasPrefix(key, w.options.Prefix)) {
			w.queue = append(w.queue, change{event: e})
		}
	}
	if len(w.queue) > first {
		w.queue[len(w.queue)-1].last = true
	}
	select {
	case w.news <- struct{}{}:
	default:
	}
}

func (w *fakeWatcher) Next(ctx context.Context) (tenure.Event, error) {
	for {
		w.mu.Lock()
		if len(w.queue) > 0 {
			c := w.queue[0]
			w.queue, w.more = w.queue[1:], !c.last
			w.mu.Unlock()
			return c.event, nil
		}
		w.mu.Unlock()
		select {
		case <-w.news:
		case <-w.done:
			return tenure.Event{}, fmt.Errorf("watching: %w", errFakeClosed)
		case <-ctx.Done():
			return tenure.Event{}, ctx.Err()
		}
	}
}

func (w *fakeWatcher) More() bool { return w.more }

func (w *fakeWatcher) end() { w.once.Do(func() { close(w.done) }) }

func (w *fakeWatcher) Close() {
	w.end()
	w.fake.mu.Lock()
	defer w.fake.mu.Unlock()
	delete(w.fake.watchers, w)
}
