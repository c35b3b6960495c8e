package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/tenure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// granted returns an entry's events: a grant of each key.
func granted(index uint64, keys ...string) []tenure.Event {
	events := make([]tenure.Event, len(keys))
	for i, key := range keys {
		events[i] = tenure.Event{Kind: tenure.EventGranted, Index: index, Record: tenure.Record{Key: key, Epoch: index, Held: true}}
	}
	return events
}

func appendKeys(r *Ring, index uint64, keys ...string) { r.Append(index, granted(index, keys...)) }

func testRing(t *testing.T, size int) *Ring {
	r := NewRing(size)
	t.Cleanup(r.Close)
	return r
}

// text returns an event as the tests write it: "5 a", a "+" behind it if its
// entry has more, or "missed 5".
func text(e tenure.Event, more bool) string {
	s := fmt.Sprintf("%d %s", e.Index, e.Record.Key)
	if e.Kind == tenure.EventMissed {
		s = fmt.Sprintf("missed %d", e.Index)
	}
	if more {
		s += "+"
	}
	return s
}

// want reads as many events as are given, and then expects to wait.
func want(t *testing.T, w *Watcher, events ...string) {
	t.Helper()
	for _, expected := range events {
		e, err := w.Next(t.Context())
		if got := text(e, w.More()); err != nil || got != expected {
			t.Fatalf("Next = %q, %v; want %q", got, err, expected)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Second, cancel)
	if e, err := w.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("Next = %q, %v; want nothing", text(e, w.More()), err)
	}
}

func TestFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := testRing(t, 100)
		all := r.Watch(Options{})
		prefix := r.Watch(Options{Prefix: "a/"})
		key := r.Watch(Options{Key: "a/1"})
		long := r.Watch(Options{Prefix: "a/1/and/more"})
		appendKeys(r, 3, "a/1", "b/1", "a/2")
		appendKeys(r, 4, "b/1")
		appendKeys(r, 5, "a/", "a/1", "a")
		want(t, all, "3 a/1+", "3 b/1+", "3 a/2", "4 b/1", "5 a/+", "5 a/1+", "5 a")
		want(t, prefix, "3 a/1+", "3 a/2", "5 a/+", "5 a/1")
		want(t, key, "3 a/1", "5 a/1")
		want(t, long)
		// The same once they wait and are called.
		appendKeys(r, 8, "b", "a/1", "a/2")
		want(t, all, "8 b+", "8 a/1+", "8 a/2")
		want(t, prefix, "8 a/1+", "8 a/2")
		want(t, key, "8 a/1")
		want(t, long)
	})
}

func TestResume(t *testing.T) {
	for _, c := range []struct {
		name  string
		after uint64
		want  []string
	}{
		{"before what is kept", 1, []string{"missed 9", "20 z"}},
		{"where what is kept begins", 4, []string{"6 a+", "6 b", "9 c", "20 z"}},
		{"between entries", 5, []string{"6 a+", "6 b", "9 c", "20 z"}},
		{"at an entry", 6, []string{"9 c", "20 z"}},
		{"at the newest", 9, []string{"20 z"}},
		{"not reached yet", 19, []string{"20 z"}},
		{"not reached yet, past the next", 20, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := testRing(t, 3)
				appendKeys(r, 2, "a")
				appendKeys(r, 4, "a", "b")
				appendKeys(r, 6, "a", "b")
				appendKeys(r, 9, "c")
				w := r.Watch(Options{After: c.after, HasAfter: true})
				if len(c.want) > 1 {
					for _, expected := range c.want[:len(c.want)-1] {
						if e, err := w.Next(t.Context()); err != nil || text(e, w.More()) != expected {
							t.Fatalf("Next = %v, %v; want %q", e, err, expected)
						}
					}
				}
				want(t, w)
				appendKeys(r, 20, "z")
				if len(c.want) > 0 {
					want(t, w, c.want[len(c.want)-1])
				} else {
					want(t, w)
				}
			})
		})
	}
}

// A slow watcher is told once that it missed changes, and goes on from there.
func TestMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := testRing(t, 2)
		w := r.Watch(Options{})
		appendKeys(r, 1, "a", "b")
		if e, _ := w.Next(t.Context()); text(e, w.More()) != "1 a+" {
			t.Fatal(e)
		}
		for i := uint64(2); i < 9; i++ {
			appendKeys(r, i, "a")
		}
		// What it was reading stays valid.
		want(t, w, "1 b", "missed 8")
		appendKeys(r, 9, "a")
		want(t, w, "9 a")
	})
}

// However much a ring drops meanwhile, a watcher that waits for another key
// missed nothing.
func TestWaitingWatcherMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := testRing(t, 2)
		w := r.Watch(Options{Key: "k"})
		want(t, w)
		for i := uint64(1); i < 100; i++ {
			appendKeys(r, i, "a")
			synctest.Wait()
		}
		want(t, w)
		appendKeys(r, 100, "k", "a")
		want(t, w, "100 k")
	})
}

// Where the writer overtakes the crier, nobody can tell who missed something:
// all are told.
func TestCrierOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := testRing(t, 2)
		w := r.Watch(Options{Key: "k"})
		want(t, w)
		r.crier.mu.Lock()
		for i := uint64(1); i < 10; i++ {
			appendKeys(r, i, "a")
		}
		r.crier.mu.Unlock()
		want(t, w, "missed 9")
		appendKeys(r, 10, "k")
		want(t, w, "10 k")
	})
}

func TestEntryLargerThanTheRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := testRing(t, 2)
		w := r.Watch(Options{})
		appendKeys(r, 1, "a", "b", "c")
		want(t, w, "1 a+", "1 b+", "1 c")
		want(t, r.Watch(Options{HasAfter: true}), "1 a+", "1 b+", "1 c")
		appendKeys(r, 2, "a")
		want(t, w, "2 a")
		want(t, r.Watch(Options{HasAfter: true}), "missed 2")
		want(t, r.Watch(Options{HasAfter: true, After: 1}), "2 a")
	})
}

func TestReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := testRing(t, 10)
		waiting := r.Watch(Options{Key: "k"})
		want(t, waiting)
		slow := r.Watch(Options{})
		appendKeys(r, 1, "a")
		r.Reset(7)
		appendKeys(r, 8, "k")
		want(t, waiting, "missed 7", "8 k")
		want(t, slow, "1 a", "missed 7", "8 k")
		want(t, r.Watch(Options{HasAfter: true, After: 6}), "missed 7", "8 k")
		want(t, r.Watch(Options{HasAfter: true, After: 7}), "8 k")
		// It had seen more on another node than this one had.
		want(t, r.Watch(Options{HasAfter: true, After: 8}))
		// An older snapshot brings the same entries again.
		r.Reset(3)
		appendKeys(r, 8, "k")
		appendKeys(r, 9, "k")
		want(t, waiting, "9 k")
	})
}

func TestCloseEndsWatches(t *testing.T) {
	for name, end := range map[string]func(*Ring, *Watcher){
		"ring":    func(r *Ring, _ *Watcher) { r.Close() },
		"watcher": func(_ *Ring, w *Watcher) { w.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := testRing(t, 10)
				w := r.Watch(Options{})
				time.AfterFunc(time.Second, func() { end(r, w) })
				for range 2 { // while it waits, and from then on
					if e, err := w.Next(t.Context()); !errors.Is(err, ErrClosed) {
						t.Fatalf("Next = %v, %v; want %v", e, err, ErrClosed)
					}
				}
				appendKeys(r, 1, "a")
				if e, err := w.Next(t.Context()); !errors.Is(err, ErrClosed) {
					t.Fatalf("Next = %v, %v; want %v", e, err, ErrClosed)
				}
				end(r, w)
				w.Close()
				r.Close()
				if e, err := r.Watch(Options{}).Next(t.Context()); !errors.Is(err, ErrClosed) {
					t.Fatalf("Next of a closed ring = %v, %v; want %v", e, err, ErrClosed)
				}
			})
		})
	}
}

func TestClosedWatchersAreForgotten(t *testing.T) {
	r := testRing(t, 10)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			w := r.Watch(Options{Prefix: fmt.Sprint(i % 7), Key: fmt.Sprint("k", i%3)[:i%3]})
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if _, err := w.Next(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("Next = %v, want %v", err, context.Canceled)
			}
			w.Close()
			w.Close()
		})
	}
	wg.Wait()
	d := &r.crier.directory
	if n := r.crier.watching.Load(); n != 0 || len(d.byKey) != 0 || len(d.byPrefix) != 0 || len(d.lengths) != 0 || len(d.ofLength) != 0 {
		t.Errorf("%d watchers are left: %+v", n, d)
	}
}

// Under a load that calls all of a thousand watchers they get the changes in
// batches: the crier rests.
func TestCrierRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := testRing(t, 10000)
		const watchers = 1000
		var wg sync.WaitGroup
		for range watchers {
			w := r.Watch(Options{})
			wg.Go(func() {
				for i := uint64(1); i <= 100; i++ {
					if e, err := w.Next(t.Context()); err != nil || e.Index != i {
						t.Errorf("Next = %v, %v; want index %d", e, err, i)
						return
					}
				}
			})
		}
		synctest.Wait()
		start := time.Now()
		appendKeys(r, 1, "a")
		synctest.Wait()
		for i := uint64(2); i <= 100; i++ {
			appendKeys(r, i, "a")
		}
		wg.Wait()
		if d := time.Since(start); d != watchers*restPerWake {
			t.Errorf("took %v, want one rest of %v", d, watchers*restPerWake)
		}
	})
}
