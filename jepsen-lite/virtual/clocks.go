package virtual

import (
	"math"
	"time"

	"example.com/tenure/jepsen-lite/plan"
)

// readings are so long apart where a clock is probed.
const readings = 10 * time.Millisecond

// newClock returns the clock of a new process on a host: each starts at
// another origin.
func (a *arena) newClock(host string) *Clock {
	a.mu.Lock()
	defer a.mu.Unlock()
	rate, changed := a.rates[host]
	if !changed {
		rate = 1
	}
	c := NewClock(time.Duration(a.rng.Int64N(int64(1000*time.Hour))), rate)
	a.clocks[host] = c
	return c
}

// setClocks changes the rates of clocks, also of those that processes get which
// start meanwhile.
func (a *arena) setClocks(f *plan.Fault, hosts []string) func() {
	set := func(rate float64) {
		for _, host := range hosts {
			a.mu.Lock()
			a.rates[host] = rate
			c := a.clocks[host]
			a.mu.Unlock()
			c.SetRate(rate)
			a.probeClock(host, c)
		}
	}
	set(*f.Rate)
	return func() { set(1) }
}

// probeClock fails the run if a clock does not run as its faults say.
func (a *arena) probeClock(host string, c *Clock) {
	if got, want := c.Probe(readings); math.Abs(got-want) > 1e-6 {
		a.fail("the clock of %s runs at %v times true time, and was to run at %v", host, got, want)
	}
}

// jumpClocks moves clocks ahead.
func (a *arena) jumpClocks(f *plan.Fault, hosts []string) func() {
	for _, host := range hosts {
		a.mu.Lock()
		c := a.clocks[host]
		a.mu.Unlock()
		before := c.Now()
		c.Jump(time.Duration(f.Delay))
		if by := c.Now() - before; by < time.Duration(f.Delay) {
			a.fail("the clock of %s went on by %v, and was to jump by %v", host, by, f.Delay)
		}
	}
	return nil
}
