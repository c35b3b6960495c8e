package holder

import (
	"math"
	"time"

	"golang.org/x/sys/unix"

	"example.com/tenure"
)

// bootClock reads CLOCK_BOOTTIME, counted from origin so that readings stay
// small.
type bootClock struct{ origin time.Duration }

func newBootClock() tenure.Clock {
	origin, err := boottime()
	if err != nil { // a sandbox that forbids the call: then as on other systems
		return tenure.MonotonicClock()
	}
	return bootClock{origin: origin}
}

// Now is tenure.Clock's. Should the call be forbidden while the process runs,
// the reading is one that lies behind every fence: gates close, and no grant
// opens them, since a fence counted from there would overflow.
func (c bootClock) Now() time.Duration {
	now, err := boottime()
	if err != nil {
		return math.MaxInt64
	}
	return now - c.origin
}

func (c bootClock) AfterFunc(d time.Duration, f func()) tenure.Timer { return time.AfterFunc(d, f) }

// boottime reads the time since the host's boot.
func boottime() (time.Duration, error) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
	return time.Duration(ts.Nano()), err
}
