package tenure

import "time"

// A Clock is the seam through which all time enters: expiry on a node and the
// fence of a holder. It must be safe for concurrent use.
type Clock interface {
	// Now returns a monotonic reading since an origin of the clock's own. It
	// never goes back, blocks on nothing and allocates nothing. Readings of
	// different clocks are never compared.
	Now() time.Duration
	// AfterFunc calls f on a goroutine of its own once d has passed on this
	// clock, or as soon as the clock can tell. Stopping the timer reports
	// whether it prevented the call.
	AfterFunc(d time.Duration, f func()) Timer
}

// A Timer is a pending call of [Clock].AfterFunc. A *time.Timer is one.
type Timer interface {
	Stop() bool
}

// MonotonicClock returns the system's monotonic clock as Go's time package
// reads it. On Linux it stands still while the host is suspended, which is
// right for a node, whose expiry only gets later. A holder uses
// holder.BootClock instead.
func MonotonicClock() Clock { return monotonic{origin: time.Now()} }

type monotonic struct{ origin time.Time }

func (c monotonic) Now() time.Duration { return time.Since(c.origin) }

func (c monotonic) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }
