package virtual

import (
	"testing"
	"testing/synctest"
	"time"
)

// A clock runs at its rate, and its timers by what it reads.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock(time.Hour, 2)
		fired := make(chan time.Duration, 1)
		c.AfterFunc(10*time.Second, func() { fired <- c.Now() })
		stopped := c.AfterFunc(time.Second, func() { t.Error("a stopped timer fired") })
		if !stopped.Stop() || stopped.Stop() {
			t.Error("a timer is stopped once")
		}
		time.Sleep(2 * time.Second)
		if got := c.Now(); got != time.Hour+4*time.Second {
			t.Errorf("after 2 s at twice the rate it reads %v", got)
		}
		c.SetRate(0)
		time.Sleep(time.Minute)
		if _, ever := c.After(2 * time.Hour); ever || len(fired) > 0 {
			t.Error("a clock that stands still goes on")
		}
		c.SetRate(0.5)
		if wait, ever := c.After(time.Hour + 10*time.Second); !ever || wait < 12*time.Second || wait > 12*time.Second+time.Millisecond {
			t.Errorf("6 s at half the rate take %v", wait)
		}
		start := time.Now()
		if got := <-fired; got < time.Hour+10*time.Second || time.Since(start) > 12*time.Second+time.Millisecond {
			t.Errorf("the timer fired at %v, after %v", got, time.Since(start))
		}
	})
}

// A clock that jumps is ahead from then on, one that is held stands still at
// whatever rate, and timers go by both. A probe measures what it does.
func TestClockJumpsAndHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock(0, 1)
		start := time.Now()
		fired := make(chan time.Duration, 1)
		c.AfterFunc(time.Minute, func() { fired <- time.Since(start) })
		c.Jump(20 * time.Second)
		c.Hold()
		c.Hold() // by two faults
		c.SetRate(2)
		if runs, should := c.Probe(10 * time.Second); runs != 0 || should != 0 {
			t.Errorf("held it runs at %v, should at %v", runs, should)
		}
		c.Release()
		if got := c.Now(); got != 20*time.Second {
			t.Errorf("held by one of two faults it reads %v", got)
		}
		c.Release()
		if runs, should := c.Probe(10 * time.Second); runs != 2 || should != 2 {
			t.Errorf("it runs at %v, should at %v", runs, should)
		}
		if at := <-fired; at < 30*time.Second || at > 30*time.Second+time.Millisecond {
			t.Errorf("the timer fired after %v", at)
		}
	})
}
