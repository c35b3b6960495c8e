package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"example.com/tenure/cmd/tenure/internal/supervise"
	"example.com/tenure/holder"
)

// A watch has the command run under the lease.
type watch struct {
	*run
	lease *holder.Lease
	files [3]*os.File

	process  *supervise.Process
	terminal *terminal
	pid      int              // the command's, once it has started
	limits   supervise.Limits // as the supervisor has them
	fenced   bool             // the lease stopped the command, or asked it to stop
	gone     bool             // nothing of the command is running
}

// leastGrace is the least that what the command left behind gets to end.
const leastGrace = 100 * time.Millisecond

// command starts the command and returns how it ended. Signals, and some that
// mean nothing before there is a command, are passed on to it.
func (w *watch) command(signals chan os.Signal) error {
	held := w.lease.Context()
	catchInto(signals, unix.SIGUSR1, unix.SIGUSR2, unix.SIGTSTP, unix.SIGCONT)
	defer signal.Stop(signals)
	w.terminal = openTerminal(w.files)
	w.limits = w.now()
	var err error
	w.process, err = supervise.Start(supervise.Command{
		Path:       w.path,
		Argv:       w.argv,
		Env:        w.environment(w.lease.Owner(), w.lease.Epoch()),
		Files:      w.files,
		Foreground: w.terminal != nil,
		Grace:      max(w.margin, leastGrace),
	}, w.limits)
	if err != nil {
		return err
	}
	w.gone = false
	err = w.loop(held, signals)
	w.terminal.take()
	return err
}

// now returns where the limits are by the lease's newest grant. The clock is
// read before the lease, so they can only be early.
func (w *watch) now() supervise.Limits {
	now := supervise.Now()
	kill := now.Add(w.lease.Remaining() - w.dying())
	return supervise.Limits{Warn: kill.Add(-w.grace()), Kill: kill}
}

// beats is how often within a grant the limits are brought up to date.
const beats = 16

// loop returns when the command has ended. held ends when the gate closes.
func (w *watch) loop(held context.Context, signals <-chan os.Signal) error {
	beat := time.NewTicker(max((w.ttl-w.margin)/beats, time.Millisecond))
	defer beat.Stop()
	for {
		select {
		case <-held.Done():
			return w.stop(fmt.Errorf("the command was stopped: %w", context.Cause(held)), exitLost)
		case <-beat.C:
			w.extend()
		case sig := <-signals:
			w.pass(sig.(unix.Signal))
		case report, ok := <-w.process.Reports():
			if !ok {
				return w.stop(errors.New("the command was stopped: its supervisor was killed"), exitFailed)
			}
			if over, err := w.heard(report); over {
				w.gone = true
				return errors.Join(err, w.process.Close())
			}
		}
	}
}

// extend tells the supervisor of a renewal.
func (w *watch) extend() {
	limits := w.now()
	if limits.Kill <= w.limits.Kill {
		return
	}
	// If the supervisor can't be told it is dead, which its reports' end
	// says, or stopped, which costs the command its life before the fence.
	if w.process.Extend(limits) == nil {
		w.limits = limits
	}
}

// pass passes a signal on to the command.
func (w *watch) pass(sig unix.Signal) {
	if sig == unix.SIGCONT {
		w.terminal.give(w.pid)
	}
	// As for extend.
	_ = w.process.Signal(sig)
}

// stop kills the command and all that it started.
func (w *watch) stop(reason error, code int) error {
	w.fenced = w.fenced || code == exitLost
	ctx, cancel := context.WithTimeout(context.Background(), w.ttl)
	defer cancel()
	err := w.process.Kill(ctx, w.pid)
	w.gone = err == nil
	return &commandError{code: code, err: errors.Join(reason, err)}
}

// heard takes in what the supervisor tells, and returns how the command ended
// if that is what it tells.
func (w *watch) heard(report supervise.Report) (over bool, err error) {
	switch report.Kind {
	case supervise.Started:
		w.pid = report.Pid
	case supervise.Failed:
		return true, &commandError{code: exitNotStarted, err: errors.New(report.Message)}
	case supervise.Stopped:
		w.terminal.take()
		// As for extend.
		_ = w.process.Halt()
	case supervise.Warned:
		w.fenced = true
		w.out.note("%s: the lease was not renewed in time: the command was sent SIGTERM, and is killed in %v", w.key, w.grace())
	case supervise.Fenced:
		w.fenced = true
	case supervise.Left:
		w.out.note("%s: the command has ended but left something running, which was sent SIGTERM", w.key)
	case supervise.Exited:
		return true, w.ended(report.Code)
	}
	return false, nil
}

// ended returns what the command's end means.
func (w *watch) ended(code int) error {
	switch {
	case w.fenced:
		return &commandError{code: exitLost, err: fmt.Errorf("%s: the lease at epoch %d of %s was not renewed in time: the command was stopped",
			w.key, w.lease.Epoch(), w.lease.Owner())}
	case code == 0:
		return nil
	}
	return &commandError{code: code}
}
