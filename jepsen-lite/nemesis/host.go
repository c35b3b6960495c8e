package nemesis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A host is one of the hosts, and how many faults strike it.
type host struct {
	nemesis *Nemesis
	name    string
	sprung  atomic.Int32 // traps that its process has walked into, and that hold it

	turn   chan struct{} // has room for whoever strikes or heals it
	down   int           // faults that keep it down
	paused int           // faults that pause the present process
	run    int           // its processes so far
}

// take waits until nobody else strikes or heals the host; it is given back by
// the returned function.
func (h *host) take() (give func()) {
	h.turn <- struct{}{}
	return func() { <-h.turn }
}

func (n *Nemesis) host(name string) *host {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.hosts[name]
	if h == nil {
		h = &host{nemesis: n, name: name, turn: make(chan struct{}, 1)}
		n.hosts[name] = h
	}
	return h
}

// each takes a fault of hosts, all at once, and heals it likewise. strike
// returns which process it struck, and heal is told.
func (n *Nemesis) each(
	ctx context.Context, names []string,
	strike func(*host, context.Context) (run int, err error), heal func(h *host, ctx context.Context, run int) error,
) (heal, error) {
	runs := make([]int, len(names))
	err := all(names, func(i int) error {
		run, err := strike(n.host(names[i]), ctx)
		runs[i] = run
		return err
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		return all(names, func(i int) error { return heal(n.host(names[i]), ctx, runs[i]) })
	}, nil
}

// all calls f for each name at once.
func all(names []string, f func(i int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, len(names))
	for i, name := range names {
		wg.Go(func() {
			if err := f(i); err != nil {
				errs[i] = fmt.Errorf("%s: %w", name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// kill ends the process and keeps the host down, once more.
func (h *host) kill(ctx context.Context) (run int, err error) {
	defer h.take()()
	if h.down++; h.down > 1 {
		return h.run, nil
	}
	if err := h.nemesis.Hosts.Kill(ctx, h.name); err != nil {
		return h.run, err
	}
	h.run++
	h.paused = 0
	return h.run, h.await(ctx, Gone)
}

// restart starts the host again when the last fault that keeps it down is
// over.
func (h *host) restart(ctx context.Context, _ int) error {
	defer h.take()()
	if h.down--; h.down > 0 || ctx.Err() != nil {
		return nil
	}
	if err := h.nemesis.Hosts.Start(ctx, h.name); err != nil {
		return err
	}
	return h.await(ctx, Running)
}

// pause stops the process, once more. A host that is down has none.
func (h *host) pause(ctx context.Context) (run int, err error) {
	defer h.take()()
	if h.down > 0 {
		return -1, nil
	}
	if h.paused++; h.paused > 1 {
		return h.run, nil
	}
	if err := h.nemesis.Hosts.Pause(ctx, h.name); err != nil {
		return h.run, err
	}
	return h.run, h.await(ctx, Stopped)
}

// resume lets the process that was stopped go on, unless it was killed, when
// the last fault that stops it is over.
func (h *host) resume(ctx context.Context, run int) error {
	defer h.take()()
	if run != h.run {
		return nil
	}
	if h.paused--; h.paused > 0 {
		return nil
	}
	if err := h.nemesis.Hosts.Resume(ctx, h.name); err != nil {
		return err
	}
	return h.await(ctx, Running)
}

// await probes the host until it is in a state, which the system may take a
// moment to bring about. One that runs may stop itself in a trap at once.
func (h *host) await(ctx context.Context, want State) error {
	for begun := time.Now(); ; {
		s, err := h.nemesis.Hosts.State(h.name)
		switch {
		case err != nil:
			return err
		case s == want || want == Running && s == Stopped && h.sprung.Load() > 0 || ctx.Err() != nil:
			return nil
		case time.Since(begun) > settling:
			return fmt.Errorf("it is %v where it must be %v", s, want)
		}
		sleep(ctx, time.Millisecond)
	}
}
