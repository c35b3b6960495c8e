package supervise

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// An Instant is a reading of CLOCK_BOOTTIME, in nanoseconds. All processes of
// a machine share that clock, and it goes on while the machine is suspended.
type Instant int64

// Now reads the clock.
func Now() Instant {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		// Every Linux that Go runs on has the clock. Without it, every fence
		// has passed.
		return 1<<63 - 1
	}
	return Instant(ts.Nano())
}

// Add returns the instant d after i.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Limits are the two instants that bound a command's life.
type Limits struct {
	Warn  Instant // it is sent SIGTERM
	Fence Instant // it is sent SIGKILL; it must not run any more
}

// An alarm fires at an instant of CLOCK_BOOTTIME, or as soon as a machine that
// was suspended then has resumed, which a timer of package time does not.
type alarm struct {
	fd int
	C  chan struct{} // receives when the alarm has fired
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("timer: %w", err)
	}
	a := &alarm{fd: fd, C: make(chan struct{}, 1)}
	go a.run()
	return a, nil
}

// set makes the alarm fire at an instant, instead of the one before.
func (a *alarm) set(at Instant) error {
	at = max(at, 1) // 0 would disarm it
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(at))}
	if err := unix.TimerfdSettime(a.fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	return nil
}

// run lasts as long as the process: a supervisor has one alarm.
func (a *alarm) run() {
	var ticks [8]byte
	for {
		if _, err := unix.Read(a.fd, ticks[:]); err != nil && err != unix.EINTR {
			return
		}
		select {
		case a.C <- struct{}{}:
		default:
		}
	}
}
