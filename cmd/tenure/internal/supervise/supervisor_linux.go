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

	family  family
	alarm   *alarm
	died    chan os.Signal // receives when a child has changed its state
	reports *reports
	limits  Limits
	warned  bool
	halted  bool    // the front was stopped, because the command was
	left    Instant // when what the command left behind is killed; 0 while the command is there
}

func (s *supervisor) run() error {
	s.reports = newReports(s.front)
	defer s.reports.flush()
	shrugOffSignals()
	if err := becomeSubreaper(); err != nil {
		return s.failed(err)
	}
	var err error
	if s.alarm, err = newAlarm(); err != nil {
		return s.failed(err)
	}
	s.died = make(chan os.Signal, 1)
	signal.Notify(s.died, unix.SIGCHLD)
	orders := make(chan order)
	go receive(s.front, orders)

	if !s.await(orders) {
		return nil // the front is gone before there was anything to do
	}
	if err := s.start(); err != nil {
		return s.failed(err)
	}
	// On another thread than this one, which only has to stay: to hand over to a
	// certain thread takes one more turn of a busy machine.
	over := make(chan error)
	go func() { over <- s.loop(orders) }()
	return <-over
}

// await waits until there is time left to live, as the front says.
func (s *supervisor) await(orders <-chan order) bool {
	for o := range orders {
		s.obey(o)
		if Now() < s.limits.Kill {
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
	s.reports.add(Report{Kind: Failed, Message: err.Error()})
	return nil
}

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
	s.reports.add(Report{Kind: Started, Pid: pid})
	return s.arm()
}

// loop returns when the family is gone.
func (s *supervisor) loop(orders <-chan order) error {
	for {
		select {
		case o, ok := <-orders:
			if !ok { // The front is gone. Nobody can renew the lease or let the key go.
				return s.family.kill(context.Background())
			}
			s.obey(o)
		case <-s.alarm.C:
		case <-s.died:
		}
		if s.look() {
			if s.halted { // nothing is left that somebody would continue it for
				s.signalFront(unix.SIGCONT)
			}
			s.reports.add(Report{Kind: Exited, Code: s.family.code})
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
// the family is gone. The time comes first: nothing that the command does may
// keep the supervisor from looking at the clock.
func (s *supervisor) look() bool {
	now := Now()
	if now >= s.limits.Kill {
		s.family.signalAll(unix.SIGKILL)
		s.reports.add(Report{Kind: Fenced})
		return s.kill()
	}
	if !s.family.reap() {
		return true
	}
	if s.family.more {
		s.again()
	}
	if sig := s.family.stop; sig == unix.SIGTSTP || sig == unix.SIGTTIN || sig == unix.SIGTTOU {
		s.reports.add(Report{Kind: Stopped})
	}
	s.family.stop = 0
	switch {
	case s.left != 0 && now >= s.left:
		return s.kill()
	case s.family.gone && s.left == 0:
		s.left = now.Add(s.grace)
		s.reports.add(Report{Kind: Left})
		s.terminate()
	case now >= s.limits.Warn && !s.warned:
		s.warned = true
		s.reports.add(Report{Kind: Warned})
		s.terminate()
	}
	// A supervisor without its alarm would be none.
	return s.arm() != nil && s.kill()
}

// kill returns when the family is gone.
func (s *supervisor) kill() bool { return s.family.kill(context.Background()) == nil }

// again has the loop look once more.
func (s *supervisor) again() {
	select {
	case s.died <- unix.SIGCHLD:
	default: // it will
	}
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
	next := s.limits.Kill
	if !s.warned {
		next = min(next, s.limits.Warn)
	}
	if s.left != 0 {
		next = min(next, s.left)
	}
	return s.alarm.set(next)
}
