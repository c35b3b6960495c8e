package supervise

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
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
}

// reap collects who has died and reports whether anybody is left.
func (f *family) reap() bool {
	for {
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

// signalAll sends a signal to the group and to every child that has left it.
// The descendants of those become children when their parents die.
func (f *family) signalAll(sig syscall.Signal) {
	f.signalGroup(sig)
	for _, pid := range children() {
		_ = unix.Kill(pid, sig)
	}
}

// killInterval is how often a killing family is looked through for descendants
// that have become children.
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
			return fmt.Errorf("processes %v were sent SIGKILL but are still there: %w", children(), ctx.Err())
		case <-again.C:
		}
	}
}

// children returns the processes whose parent is this one.
func children() []int { return childrenOf(os.Getpid()) }

func childrenOf(parent int) []int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = proc.Close() }() // it was only read
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && parentOf(name) == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf returns the parent of a process, or 0 if it is gone.
func parentOf(pid string) int {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0
	}
	// pid (name) state parent ...: the name may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	number, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return 0
	}
	return number
}
