package workload

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/bench/contender"
	"example.com/tenure/holder"
	"example.com/tenure/holder/holdertest"
)

// gate measures the gate of a lease against a reading of its clock, for a
// holder's own clock and for the one without suspend detection, and Owner on a
// node that has a million records.
func (b *Bench) gate(ctx context.Context) error {
	if len(b.only(contender.Tenure)) == 0 {
		return nil
	}
	for _, c := range []struct {
		suffix string
		clock  tenure.Clock
	}{{"", holder.BootClock()}, {"/monotonic", tenure.MonotonicClock()}} {
		if err := b.gateOf(ctx, c.clock, c.suffix); err != nil {
			return err
		}
	}
	return b.owner(ctx)
}

func (b *Bench) gateOf(ctx context.Context, clock tenure.Clock, suffix string) error {
	h, err := holder.New(holder.Config{Store: holdertest.NewStore(clock), Replica: "gate", TTL: time.Hour, Clock: clock})
	if err != nil {
		return err
	}
	defer h.Close(ctx)
	lease, err := h.Acquire(ctx, "tenant-42")
	if err != nil {
		return err
	}
	work := func(context.Context) error { return nil }
	var failed error
	note := func(err error) {
		if err != nil {
			failed = err
		}
	}
	steps := []step{
		{"gate/clock", func() { clock.Now() }},
		{"gate/assert-held", func() { note(lease.AssertHeld()) }},
		{"gate/do", func() { note(lease.Do(ctx, work)) }},
	}
	for range b.Rounds {
		for _, s := range steps {
			b.Results.Add(s.name+suffix, contender.Tenure, "ns", perCall(b.Gate, s.call))
		}
		b.Results.Add("gate/clock/all-cores"+suffix, contender.Tenure, "ns", perCallOnAllCores(b.Gate, func() { clock.Now() }))
		b.Results.Add("gate/assert-held/all-cores"+suffix, contender.Tenure, "ns", perCallOnAllCores(b.Gate, func() { _ = lease.AssertHeld() }))
	}
	b.Results.Add("gate/assert-held/allocs"+suffix, contender.Tenure, "allocations", testing.AllocsPerRun(1000, steps[1].call))
	b.logf("gate%s: measured", suffix)
	return failed
}

// A step is a call that is measured.
type step struct {
	name string
	call func()
}

// batchOfCalls is how many calls are made between two looks at the clock.
const batchOfCalls = 1000

// perCall returns how many nanoseconds a call takes.
func perCall(d time.Duration, call func()) float64 {
	calls, began := 0, time.Now()
	for time.Since(began) < d {
		for range batchOfCalls {
			call()
		}
		calls += batchOfCalls
	}
	return float64(time.Since(began)) / float64(calls)
}

// perCallOnAllCores makes calls on every core at once. Where they don't hinder
// each other a call takes as long as on one.
func perCallOnAllCores(d time.Duration, call func()) float64 {
	cores := runtime.GOMAXPROCS(0)
	took := make([]float64, cores)
	var wg sync.WaitGroup
	for i := range cores {
		wg.Go(func() { took[i] = perCall(d, call) })
	}
	wg.Wait()
	sum := 0.0
	for _, t := range took {
		sum += t
	}
	return sum / float64(cores)
}

// owner measures Owner, of keys all over a state of a million records.
func (b *Bench) owner(ctx context.Context) error {
	n, err := openLocal(ctx)
	if err != nil {
		return err
	}
	defer n.Close()
	if _, err := fill(ctx, n, b.Million, time.Hour); err != nil {
		return err
	}
	keys := make([]string, 1<<14)
	for i := range keys {
		keys[i] = leaseKey(i * 7919 % b.Million)
	}
	if !n.Owner(keys[1]).Held {
		return fmt.Errorf("%s is not held", keys[1])
	}
	for range b.Rounds {
		next := 0
		b.Results.Add("gate/owner", contender.Tenure, "ns", perCall(b.Gate, func() {
			next++
			n.Owner(keys[next%len(keys)])
		}))
		b.Results.Add("gate/owner/same-key", contender.Tenure, "ns", perCall(b.Gate, func() { n.Owner(keys[0]) }))
	}
	b.logf("gate: measured Owner")
	return nil
}
