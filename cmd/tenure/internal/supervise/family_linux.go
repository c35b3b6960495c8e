package supervise

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// becomeSubreaper makes the orphans among this process's descendants its
// children, so that none of them gets out of sight.
func becomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	return nil
}

// A family is what the command started, as seen by a process whose only
// children are of it. Only one goroutine may use it: a process that has been
// seen as a child and not been reaped keeps its number, which is why no signal
// of a family ever hits a stranger.
type family struct {
	leader int            // the command's process, and the number of its group; 0 if unknown
	gone   bool           // the leader has been reaped, maybe by another process
	code   int            // the leader's exit code, once this process has reaped it
	stop   syscall.Signal // that stopped the leader since the last look, or 0
	more   bool           // the last reap ended before it had collected all
}

// reapedAtOnce bounds a call of reap, so that a command whose processes die as
// fast as they are collected does not keep its watcher from the clock.
const reapedAtOnce = 256

// reap collects who has died and reports whether anybody is left.
func (f *family) reap() bool {
	f.more = false
	for range reapedAtOnce {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG|unix.WUNTRACED, nil)
		switch {
		case err == unix.EINTR:
		case err != nil: // ECHILD
			return false
		case pid == 0:
			return true
		case pid == f.leader:
			f.note(status)
		}
	}
	f.more = true
	return true
}

func (f *family) note(status unix.WaitStatus) {
	switch {
	case status.Stopped():
		f.stop = status.StopSignal()
	case status.Signaled():
		f.code, f.gone = 128+int(status.Signal()), true
	case status.Exited():
		f.code, f.gone = status.ExitStatus(), true
	}
}

// signalGroup sends a signal to the command's process group, if this process
// has a child in it.
func (f *family) signalGroup(sig syscall.Signal) {
	if f.leader != 0 && (!f.gone || f.inGroup()) {
		_ = unix.Kill(-f.leader, sig) // whoever is gone needs no signal
	}
}

// inGroup reports whether a child of this process is in the command's process
// group. It reaps those that have died.
func (f *family) inGroup() bool {
	for {
		pid, err := unix.Wait4(-f.leader, nil, unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR || pid > 0:
		case err != nil:
			return false
		default:
			return true
		}
	}
}

// signalAll sends a signal to the group and to all descendants, also those that
// have left the group.
func (f *family) signalAll(sig syscall.Signal) {
	f.signalGroup(sig)
	for _, d := range descendants(os.Getpid()) {
		d.signal(sig)
	}
}

// killInterval is how often a dying family is looked through for who was forked
// meanwhile.
const killInterval = 2 * time.Millisecond

// kill kills the whole family and returns once all are dead, or with an error
// when ctx ends before that.
func (f *family) kill(ctx context.Context) error {
	again := time.NewTicker(killInterval)
	defer again.Stop()
	for {
		f.signalAll(unix.SIGKILL)
		if !f.reap() {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("processes %v were sent SIGKILL but are still there: %w", descendants(os.Getpid()), ctx.Err())
		case <-again.C:
		}
	}
}
