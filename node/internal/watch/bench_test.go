package watch

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

// BenchmarkAppend measures what a watched ring adds to an apply, with watchers
// of keys of their own, of the key that changes, and of everything. The last
// two are the worst case, without a pause between the entries: what they take
// is the processors' time, not the writer's.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name     string
		watchers int
		options  func(i int) Options
	}{
		{"none", 0, nil},
		{"one", 1, func(int) Options { return Options{} }},
		{"1000/others", 1000, func(i int) Options { return Options{Key: fmt.Sprint("other", i)} }},
		{"1000/prefixes", 1000, func(i int) Options { return Options{Prefix: fmt.Sprint("tenant/", i, "/")} }},
		{"1000/all", 1000, func(int) Options { return Options{} }},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := NewRing(DefaultSize)
			ctx, cancel := context.WithCancel(b.Context())
			var wg sync.WaitGroup
			for i := range c.watchers {
				w := r.Watch(c.options(i))
				wg.Go(func() {
					for _, err := w.Next(ctx); err == nil; _, err = w.Next(ctx) {
					}
				})
			}
			events := granted(1, "tenant/7/x")
			index := uint64(0)
			for b.Loop() {
				index++
				r.Append(index, events)
			}
			b.StopTimer()
			cancel()
			wg.Wait()
			r.Close()
		})
	}
}

// BenchmarkPaced appends 5,000 entries a second and measures how long an append
// takes then, with watchers of everything that keep up.
func BenchmarkPaced(b *testing.B) {
	for _, watchers := range []int{0, 1, 1000} {
		b.Run(fmt.Sprint(watchers), func(b *testing.B) {
			r := NewRing(DefaultSize)
			ctx, cancel := context.WithCancel(b.Context())
			var wg sync.WaitGroup
			for range watchers {
				w := r.Watch(Options{})
				wg.Go(func() {
					for _, err := w.Next(ctx); err == nil; _, err = w.Next(ctx) {
					}
				})
			}
			events := granted(1, "tenant/7/x")
			index := uint64(0)
			var took time.Duration
			tick := time.NewTicker(time.Millisecond)
			for b.Loop() {
				<-tick.C
				start := time.Now()
				for range 5 {
					index++
					r.Append(index, events)
				}
				took += time.Since(start)
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(index), "ns/append")
			b.StopTimer()
			tick.Stop()
			cancel()
			wg.Wait()
			r.Close()
		})
	}
}
