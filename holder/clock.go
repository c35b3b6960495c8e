package holder

import "example.com/tenure"

// BootClock returns the clock that a holder uses unless its [Config] names
// another.
//
// On Linux it is CLOCK_BOOTTIME, which goes on counting while the host is
// suspended, so that a holder wakes up fenced. A reading is one system call.
// On every other system it is [tenure.MonotonicClock]. On macOS that one
// stands still while the host is suspended; on the others it depends on the
// system and its version, so assume that it does. There a host that may be
// suspended relies on the durable layer alone.
//
// [tenure.MonotonicClock] can be configured on Linux as well. It is read
// without a system call, several times faster, and notices no suspension.
//
// The timers of all of these run on Go's monotonic clock: after a suspension
// they are late. The gate doesn't depend on them.
//
// A virtual machine that its host pauses, migrates or restores may see none of
// its clocks move. No clock helps there; the durable layer's seal does.
func BootClock() tenure.Clock { return newBootClock() }
