package virtual

import (
	"sync"
	"time"

	"example.com/tenure"
)

// A Clock is the clock of one process: it runs at a rate of its own against
// true time, which is that of the bubble, and starts at an origin of its own.
// It implements tenure.Clock.
type Clock struct {
	mu      sync.Mutex
	rate    float64
	holds   int           // suspensions through which it stands still
	changes int           // of all this
	since   time.Time     // when it last changed
	reading time.Duration // then
	timers  map[*timer]struct{}
}

// NewClock returns a clock that reads origin now and runs at a rate.
func NewClock(origin time.Duration, rate float64) *Clock {
	return &Clock{rate: rate, since: time.Now(), reading: origin, timers: make(map[*timer]struct{})}
}

// Now implements tenure.Clock.
func (c *Clock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *Clock) now() time.Duration {
	return c.reading + time.Duration(float64(time.Since(c.since))*c.runs())
}

// runs is the rate at which the clock runs now.
func (c *Clock) runs() float64 {
	if c.holds > 0 {
		return 0
	}
	return c.rate
}

// SetRate changes the rate from now on.
func (c *Clock) SetRate(rate float64) { c.change(func() { c.rate = rate }) }

// Jump moves the clock ahead.
func (c *Clock) Jump(by time.Duration) { c.change(func() { c.reading += by }) }

// Hold makes the clock stand still, once more; Release takes one hold back.
func (c *Clock) Hold() { c.change(func() { c.holds++ }) }

// Release takes one hold back.
func (c *Clock) Release() { c.change(func() { c.holds-- }) }

func (c *Clock) change(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading, c.since = c.now(), time.Now()
	change()
	c.changes++
	for t := range c.timers {
		t.arm()
	}
}

// Probe reads the clock twice, some true time apart, and returns at which rate
// it ran and at which it was to run. It reads on while faults of the clock come
// and go.
func (c *Clock) Probe(apart time.Duration) (runs, should float64) {
	for {
		c.mu.Lock()
		changes, should := c.changes, c.runs()
		c.mu.Unlock()
		begun, first := time.Now(), c.Now()
		time.Sleep(apart)
		runs := float64(c.Now()-first) / float64(time.Since(begun))
		c.mu.Lock()
		steady := c.changes == changes
		c.mu.Unlock()
		if steady {
			return runs, should
		}
	}
}

// pending returns how many timers wait.
func (c *Clock) pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// After returns how long it takes in true time until the clock reads t, if it
// keeps its rate, and whether it ever does.
func (c *Clock) After(t time.Duration) (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.after(t)
}

func (c *Clock) after(t time.Duration) (time.Duration, bool) {
	left := t - c.now()
	switch {
	case left <= 0:
		return 0, true
	case c.runs() <= 0:
		return 0, false
	}
	return time.Duration(float64(left)/c.runs()) + 1, true
}

// AfterFunc implements tenure.Clock.
func (c *Clock) AfterFunc(d time.Duration, f func()) tenure.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{clock: c, at: c.now() + d, f: f}
	c.timers[t] = struct{}{}
	t.arm()
	return t
}

// A timer fires once its clock reads an instant.
type timer struct {
	clock *Clock
	at    time.Duration
	f     func()
	timer *time.Timer // nil while the clock stands still
}

// arm sets the timer by the clock's present rate.
func (t *timer) arm() {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	if wait, ever := t.clock.after(t.at); ever {
		t.timer = time.AfterFunc(wait, t.fire)
	}
}

func (t *timer) fire() {
	c := t.clock
	c.mu.Lock()
	_, pending := c.timers[t]
	if pending && c.now() < t.at {
		t.arm()
		pending = false
	} else {
		delete(c.timers, t)
	}
	c.mu.Unlock()
	if pending {
		t.f()
	}
}

// Stop implements tenure.Timer.
func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	_, pending := t.clock.timers[t]
	delete(t.clock.timers, t)
	if t.timer != nil {
		t.timer.Stop()
	}
	return pending
}
