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

func newBootClock() tenure.Clock { return bootClock{origin: boottime()} }

func (c bootClock) Now() time.Duration { return boottime() - c.origin }

func (c bootClock) AfterFunc(d time.Duration, f func()) tenure.Timer { return time.AfterFunc(d, f) }

// boottime reads the time since the host's boot. The kernels that Go runs on
// all have the clock; should a sandbox forbid the call nevertheless, the
// reading is one that lies behind every fence, so that gates close.
func boottime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return math.MaxInt64
	}
	return time.Duration(ts.Nano())
}
