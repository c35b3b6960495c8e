package process

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// now reads the clock that all processes of the host have in common.
func now() (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0, fmt.Errorf("read the host's clock: %w", err)
	}
	return time.Duration(ts.Nano()), nil
}

// stopMyself stops this process as SIGSTOP does, before the calling goroutine
// makes another step. It returns when the process goes on.
func stopMyself() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// To this very thread: one that is sent to the process may be taken by
	// another, while this one goes on for a moment.
	return unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGSTOP)
}

// descriptors counts the open files of this process.
func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
