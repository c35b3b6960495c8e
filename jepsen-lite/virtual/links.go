package virtual

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"example.com/tenure/jepsen-lite/plan"
)

// each does something with all links at once, and returns when all is done.
func each(links []string, do func(from, to string)) {
	var wg sync.WaitGroup
	for _, l := range links {
		from, to, _ := plan.Ends(l)
		wg.Go(func() { do(from, to) })
	}
	wg.Wait()
}

// probe fails the run if a link does not do what its faults say.
func (a *arena) probe(from, to string) {
	if err := a.net.Probe(from, to); err != nil {
		a.fail("%w", err)
	}
}

// onLinks takes a fault of links and returns what heals it. take takes it of
// one link, and returns what heals that.
func (a *arena) onLinks(links []string, take func(from, to string) func()) func() {
	var mu sync.Mutex
	heals := make(map[string]func())
	each(links, func(from, to string) {
		heal := take(from, to)
		a.probe(from, to)
		mu.Lock()
		defer mu.Unlock()
		heals[plan.Link(from, to)] = heal
	})
	return func() {
		each(links, func(from, to string) {
			heals[plan.Link(from, to)]()
			a.probe(from, to)
		})
	}
}

func (a *arena) partition(_ *plan.Fault, links []string) func() {
	return a.onLinks(links, func(from, to string) func() {
		a.net.Cut(from, to)
		return func() { a.net.Heal(from, to) }
	})
}

func (a *arena) slow(f *plan.Fault, links []string) func() {
	return a.onLinks(links, func(from, to string) func() {
		return a.net.Slow(from, to, time.Duration(f.Delay), time.Duration(f.Jitter))
	})
}

func (a *arena) throttle(f *plan.Fault, links []string) func() {
	return a.onLinks(links, func(from, to string) func() { return a.net.Throttle(from, to, f.Bytes) })
}

// reset resets connections; new ones are as good as ever.
func (a *arena) reset(_ *plan.Fault, links []string) func() {
	each(links, func(from, to string) {
		near, far := a.net.Pair(from, to)
		a.net.Reset(from, to)
		for _, end := range []*conn{near, far} {
			if _, err := end.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				a.fail("the connections of %s>%s were reset, and one says %v", from, to, err)
			}
			_ = end.Close() // it is broken
		}
		a.probe(from, to)
	})
	return nil
}

// halfOpen lets hosts vanish, as others see them.
func (a *arena) halfOpen(_ *plan.Fault, links []string) func() {
	return a.onLinks(links, func(from, to string) func() {
		sample, heal := a.net.HalfOpen(from, to)
		a.probeHalfOpen(sample, from, to)
		return func() {
			heal()
			// It was sent to, and hears now that nobody knows it.
			if _, err := sample.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.ETIMEDOUT) {
				a.fail("a half-open connection of %s>%s says %v after the heal", from, to, err)
			}
			_ = sample.Close() // it is broken
		}
	})
}

// probeHalfOpen fails the run if a connection is not half open, or a new one
// can be made.
func (a *arena) probeHalfOpen(sample *conn, from, to string) {
	if _, err := sample.peer.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		a.fail("a half-open connection of %s>%s says %v at its far end", from, to, err)
	}
	_ = sample.peer.Close() // it is broken
	_, _ = sample.Write([]byte("?"))
	_ = sample.SetReadDeadline(time.Now().Add(leeway))
	// A reset may come between.
	if _, err := sample.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, syscall.ECONNRESET) {
		a.fail("a half-open connection of %s>%s says %v at its near end", from, to, err)
	}
	_ = sample.SetReadDeadline(time.Time{})
	ctx, cancel := context.WithTimeout(a.ctx, 4*leeway)
	defer cancel()
	if _, err := a.net.Host(from).Dial(ctx, addr(to)); !errors.Is(err, context.DeadlineExceeded) && a.ctx.Err() == nil {
		a.fail("the host %s has vanished for %s, whose dial says %v", to, from, err)
	}
}
