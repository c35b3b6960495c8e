package supervise

import (
	"fmt"
	"os"
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
	Warn Instant // it is sent SIGTERM
	Kill Instant // it is sent SIGKILL; dying takes a moment, so this has to come before it must be dead
}

// An alarm fires at an instant of CLOCK_BOOTTIME, or as soon as a machine that
// was suspended then has resumed, which a timer of package time does not.
type alarm struct {
	fd   int
	file *os.File      // has the same descriptor
	C    chan struct{} // receives when the alarm has fired
}

func newAlarm() (*alarm, error) {
	// Not blocking, the descriptor is one that the scheduler itself waits for:
	// the thread that the kernel wakes is the one that goes on.
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("timer: %w", err)
	}
	a := &alarm{fd: fd, file: os.NewFile(uintptr(fd), "alarm"), C: make(chan struct{}, 1)}
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
		if _, err := a.file.Read(ticks[:]); err != nil {
			return
		}
		select {
		case a.C <- struct{}{}:
		default:
		}
	}
}
