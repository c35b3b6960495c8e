package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// foreground as the argument of that name makes the command's process group
// the terminal's foreground group. The terminal is standard input.
const foreground, background = "foreground", "background"

// Supervise is the supervisor's whole life: it starts the command at the
// front's first order and returns once all that the command started is gone.
// Its arguments are those that [Start] gave.
func Supervise(args []string) error {
	if len(args) < 5 {
		return errors.New("only tenure run starts a supervisor")
	}
	fd, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	grace, err := time.ParseDuration(args[1])
	if err != nil {
		return fmt.Errorf("grace: %w", err)
	}
	front, err := newLink(fd)
	if err != nil {
		return err
	}
	// The parent-death signal comes when the thread that forked ends.
	runtime.LockOSThread()
	s := &supervisor{front: front, parent: os.Getppid(), grace: grace, foreground: args[2] == foreground, path: args[3], argv: args[4:]}
	return s.run()
}

// A supervisor is the command's parent.
type supervisor struct {
	front      *link
	parent     int           // the front's process
	grace      time.Duration // between SIGTERM and SIGKILL for what the command left behind
	foreground bool
	path       string
	argv       []string

	family family
	alarm  *alarm
	limits Limits
	warned bool
	halted bool    // the front was stopped, because the command was
	left   Instant // when what the command left behind is killed; 0 while the command is there
}

func (s *supervisor) run() error {
	shrugOffSignals()
	if err := becomeSubreaper(); err != nil {
		return s.failed(err)
	}
	var err error
	if s.alarm, err = newAlarm(); err != nil {
		return s.failed(err)
	}
	died := make(chan os.Signal, 1)
	signal.Notify(died, unix.SIGCHLD)
	orders := make(chan order)
	go receive(s.front, orders)

	if !s.await(orders) {
		return nil // the front is gone before there was anything to do
	}
	if err := s.start(); err != nil {
		return s.failed(err)
	}
	return s.loop(orders, died)
}

// await waits until the fence lies in the future, as the front says.
func (s *supervisor) await(orders <-chan order) bool {
	for o := range orders {
		s.obey(o)
		if Now() < s.limits.Fence {
			return true
		}
	}
	return false
}

// shrugOffSignals keeps the signals that a user or a terminal sends from ending
// or stopping the supervisor. They are caught instead of ignored, since the
// command would inherit that they are ignored; those which already are stay so.
func shrugOffSignals() {
	for _, sig := range []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2,
		unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU} {
		if !signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// failed leaves it to the front to say what went wrong.
func (s *supervisor) failed(err error) error {
	s.report(Report{Kind: Failed, Message: err.Error()})
	return nil
}

// report tells the front. A front that is gone is noticed by its orders.
func (s *supervisor) report(r Report) { _ = s.front.send(r) }

func (s *supervisor) start() error {
	pid, err := syscall.ForkExec(s.path, s.argv, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{
			Setpgid:    true,
			Pdeathsig:  unix.SIGKILL,
			Foreground: s.foreground,
			Ctty:       0,
		},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	s.family.leader = pid
	s.report(Report{Kind: Started, Pid: pid})
	return s.arm()
}

// loop returns when the family is gone.
func (s *supervisor) loop(orders <-chan order, died <-chan os.Signal) error {
	for {
		select {
		case o, ok := <-orders:
			if !ok { // The front is gone. Nobody can renew the lease or let the key go.
				return s.family.kill(context.Background())
			}
			s.obey(o)
		case <-s.alarm.C:
		case <-died:
		}
		if s.look() {
			s.report(Report{Kind: Exited, Code: s.family.code})
			if s.halted { // nothing is left that somebody would continue it for
				s.signalFront(unix.SIGCONT)
			}
			return nil
		}
	}
}

func (s *supervisor) obey(o order) {
	if o.Limits != nil {
		s.limits = *o.Limits
	}
	if o.Signal != 0 {
		s.family.signalGroup(o.Signal)
	}
	if o.Halt {
		s.halted = true
		s.signalFront(unix.SIGSTOP)
	}
}

// look does what the time and the family's state ask for, and reports whether
// the family is gone.
func (s *supervisor) look() bool {
	if !s.family.reap() {
		return true
	}
	if sig := s.family.stop; sig == unix.SIGTSTP || sig == unix.SIGTTIN || sig == unix.SIGTTOU {
		s.report(Report{Kind: Stopped})
	}
	s.family.stop = 0
	now := Now()
	switch {
	case now >= s.limits.Fence:
		s.report(Report{Kind: Fenced})
		return s.family.kill(context.Background()) == nil
	case s.left != 0 && now >= s.left:
		return s.family.kill(context.Background()) == nil
	case s.family.gone && s.left == 0:
		s.left = now.Add(s.grace)
		s.report(Report{Kind: Left})
		s.terminate()
	case now >= s.limits.Warn && !s.warned:
		s.warned = true
		s.report(Report{Kind: Warned})
		s.terminate()
	}
	// A supervisor without its alarm would be none.
	return s.arm() != nil && s.family.kill(context.Background()) == nil
}

// signalFront stops or continues the front, if it is still there.
func (s *supervisor) signalFront(sig syscall.Signal) {
	if os.Getppid() == s.parent {
		_ = unix.Kill(s.parent, sig)
	}
}

// terminate asks all to end. Who is stopped sees it only when continued.
func (s *supervisor) terminate() {
	s.family.signalAll(unix.SIGTERM)
	s.family.signalAll(unix.SIGCONT)
}

// arm sets the alarm to what comes next.
func (s *supervisor) arm() error {
	next := s.limits.Fence
	if !s.warned {
		next = min(next, s.limits.Warn)
	}
	if s.left != 0 {
		next = min(next, s.left)
	}
	return s.alarm.set(next)
}
