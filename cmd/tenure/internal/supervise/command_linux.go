package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Command is what to run.
type Command struct {
	Path  string   // of the executable
	Argv  []string // its arguments, from its name on
	Env   []string
	Files [3]*os.File // standard input, output and error
	// Foreground makes the command's process group the foreground group of
	// the terminal that Files[0] is. The caller's must be that now.
	Foreground bool
	// Grace is between SIGTERM and SIGKILL for what the command left behind
	// when it ended.
	Grace time.Duration
}

// A Process is a supervised command. Its methods may be called by one goroutine
// only.
type Process struct {
	front      *link
	supervisor *os.Process
	reports    chan Report
	reaped     bool // the supervisor is
}

// Start starts a supervisor, which starts the command. How that went is told by
// the first report. The caller must have no other child, and becomes the
// subreaper of its descendants for good.
func Start(c Command, l Limits) (*Process, error) {
	if err := becomeSubreaper(); err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	defer func() { _ = unix.Close(pair[1]) }() // the supervisor has its own
	front, err := newLink(pair[0])
	if err != nil {
		return nil, errors.Join(err, unix.Close(pair[0]))
	}
	process, err := fork(c, pair[1])
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the supervisor: %w", err), front.file.Close())
	}
	p := &Process{front: front, supervisor: process, reports: make(chan Report)}
	go receive(front, p.reports)
	if err := p.Extend(l); err != nil {
		return nil, errors.Join(fmt.Errorf("start the supervisor: %w", err), p.end())
	}
	return p, nil
}

// fork starts this program again, as the supervisor with its end of the socket.
// The end keeps its number, so that the command inherits whatever descriptors
// this process was given under the low ones.
func fork(c Command, end int) (*os.Process, error) {
	if _, err := unix.FcntlInt(uintptr(end), unix.F_SETFD, 0); err != nil {
		return nil, err
	}
	ground := background
	if c.Foreground {
		ground = foreground
	}
	args := append([]string{os.Args[0], Verb, fmt.Sprint(end), c.Grace.String(), ground, c.Path}, c.Argv...)
	return os.StartProcess("/proc/self/exe", args, &os.ProcAttr{
		Env:   c.Env,
		Files: c.Files[:],
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
}

// Reports returns what the supervisor tells. The channel is closed when the
// supervisor is gone; if neither Failed nor Exited came before, it was killed,
// and the caller has to call Kill.
func (p *Process) Reports() <-chan Report { return p.reports }

// Extend moves the limits.
func (p *Process) Extend(l Limits) error { return p.front.send(order{Limits: &l}) }

// Signal sends a signal to the command's process group.
func (p *Process) Signal(sig syscall.Signal) error { return p.front.send(order{Signal: sig}) }

// Halt stops this process (SIGSTOP), as whoever waits for it expects when the
// command has been stopped. It goes on when it is continued or, at the latest,
// when the command is gone: that is why the supervisor does it.
func (p *Process) Halt() error { return p.front.send(order{Halt: true}) }

// Kill kills the command, all that it started, and the supervisor, and returns
// when they are gone. An error says who was still there when ctx ended; then
// the key must not be let go. The pid is what the report Started told, or 0.
func (p *Process) Kill(ctx context.Context, pid int) error {
	// When the socket closes the supervisor starts to kill, too. It is not ended
	// before the signal was sent to all: if one of the two is held up now, the
	// other goes on.
	_ = p.front.file.Close() // says nothing more than the signals
	for _, d := range descendants(os.Getpid()) {
		if d.pid != p.supervisor.Pid {
			d.signal(unix.SIGKILL)
		}
	}
	// Once the supervisor is dead, its children are this process's.
	if err := p.end(); err != nil {
		return err
	}
	f := family{leader: pid, gone: true}
	return f.kill(ctx)
}

// Close ends a process whose last report was Failed or Exited.
func (p *Process) Close() error { return p.end() }

// end kills the supervisor and reaps it.
func (p *Process) end() error {
	if p.reaped {
		return nil
	}
	_ = p.front.file.Close() // fails only if it is closed
	_ = p.supervisor.Kill()  // fails only if it is dead
	if _, err := p.supervisor.Wait(); err != nil {
		return fmt.Errorf("supervisor: %w", err)
	}
	p.reaped = true
	return nil
}
