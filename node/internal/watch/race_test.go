package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"example.com/tenure"
)

// Watchers that come, go and read while a writer appends as fast as it can see
// the log in order, without a hole that they are not told of; whoever keeps up
// or waits for a rare key sees everything.
func TestConcurrentWatchers(t *testing.T) {
	const entries = 5000
	r := NewRing(4 * entries) // nobody can miss anything here
	small := NewRing(64)      // and everybody will here
	defer r.Close()
	defer small.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	for range 8 {
		w := r.Watch(Options{})
		wg.Go(func() { readAll(t, ctx, w, entries, 1) })
		rare := r.Watch(Options{Key: "rare"})
		wg.Go(func() { readAll(t, ctx, rare, entries, 500) })
		slow := small.Watch(Options{})
		wg.Go(func() { readSome(t, ctx, slow, entries) })
		wg.Go(func() { comeAndGo(t, ctx, r, entries) })
	}
	for i := uint64(1); i <= entries; i++ {
		key := fmt.Sprint("k", i%10)
		if i%500 == 0 {
			key = "rare"
		}
		appendKeys(r, i, key)
		appendKeys(small, i, key)
	}
	wg.Wait()
}

// readAll wants an event of every step-th entry up to the last.
func readAll(t *testing.T, ctx context.Context, w *Watcher, last, step uint64) {
	defer w.Close()
	for index := step; index <= last; index += step {
		if e, err := w.Next(ctx); err != nil || e.Index != index || e.Kind != tenure.EventGranted {
			t.Errorf("Next = %v, %v; want index %d", e, err, index)
			return
		}
	}
}

// readSome wants to be told of every hole.
func readSome(t *testing.T, ctx context.Context, w *Watcher, last uint64) {
	defer w.Close()
	for seen := uint64(0); seen < last; {
		e, err := w.Next(ctx)
		switch {
		case err != nil:
			t.Error(err)
			return
		case e.Kind == tenure.EventMissed && e.Index <= seen, e.Kind == tenure.EventGranted && e.Index != seen+1:
			t.Errorf("%v after index %d", e, seen)
			return
		}
		seen = e.Index
	}
}

// comeAndGo resumes again and again where it left.
func comeAndGo(t *testing.T, ctx context.Context, r *Ring, last uint64) {
	for seen := uint64(0); seen < last; {
		w := r.Watch(Options{After: seen, HasAfter: true})
		for range 500 {
			if seen == last {
				break
			}
			e, err := w.Next(ctx)
			if err != nil || e.Index != seen+1 || e.Kind != tenure.EventGranted {
				t.Errorf("Next = %v, %v after index %d", e, err, seen)
				seen = last
				break
			}
			seen = e.Index
		}
		w.Close()
	}
}

func TestCloseWhileWatching(t *testing.T) {
	r := NewRing(16)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			for {
				w := r.Watch(Options{})
				_, err := w.Next(context.Background())
				w.Close()
				if errors.Is(err, ErrClosed) {
					return
				}
			}
		})
	}
	for i := uint64(1); i < 1000; i++ {
		appendKeys(r, i, "a")
	}
	r.Close()
	appendKeys(r, 1000, "a")
	wg.Wait()
}
