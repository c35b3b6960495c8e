package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/tenure/examples/ledger/fleet"
	"example.com/tenure/examples/ledger/replica"
)

// watch prints what happens, once a second, until ctx ends or the kills are
// over. It brings a replica back that somebody killed.
func (r *fleetRun) watch(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var others sync.WaitGroup
	defer others.Wait()
	defer stop()
	over := make(chan error, 1)
	if r.kill9 > 0 {
		others.Go(func() { over <- r.disturb(ctx) })
	} else {
		for i := range r.cfg.Peers {
			others.Go(func() { r.attend(ctx, i) })
		}
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for last := r.load.Acknowledged(); ; {
		select {
		case <-ctx.Done():
			return nil
		case err := <-over:
			return err
		case <-tick.C:
		}
		now := r.load.Acknowledged()
		r.line("%s | %5d entries/s", r.tenants(ctx), now-last)
		last = now
	}
}

func (r *fleetRun) disturb(ctx context.Context) error {
	killing, cancel := context.WithTimeout(ctx, r.kill9)
	defer cancel()
	n, err := r.running.Disturb(killing, fleet.Faults{Kill: true, Freeze: r.freeze, Log: r.line})
	r.line("%d faults", n)
	return err
}

// attend brings replica i back whenever it has ended.
func (r *fleetRun) attend(ctx context.Context, i int) {
	id := r.cfg.Peers[i].ID
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.running.Gone(i):
		}
		if ctx.Err() != nil {
			return
		}
		r.line("%s is gone: its tenants move when their leases expire, within %v; it comes back in %v", id, r.cfg.TTL, r.restart)
		timer := time.NewTimer(r.restart)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if err := r.running.Restart(i); err != nil {
			r.line("%s does not come back: %v", id, err)
			return
		}
		r.line("%s is back: it asks for its tenants; to kill it: kill -9 %d", id, r.running.Pid(i))
	}
}

// tenants says how many tenants each replica owns.
func (r *fleetRun) tenants(ctx context.Context) string {
	status, err := r.running.Status(ctx)
	if err != nil {
		return "no replica answers for the fleet"
	}
	parts := make([]string, 0, len(r.cfg.Peers)+1)
	for _, p := range r.cfg.Peers {
		parts = append(parts, count(p.ID, status, slices.Contains(status.Alive, p.ID)))
	}
	return strings.Join(append(parts, fmt.Sprintf("nobody %3d", len(status.Tenants[""]))), "  ")
}

func count(id string, status replica.Status, alive bool) string {
	mark := " "
	if !alive {
		mark = "-"
	}
	return fmt.Sprintf("%s%s %3d", mark, id, len(status.Tenants[id]))
}

func (r *fleetRun) line(format string, args ...any) {
	r.printf("%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
