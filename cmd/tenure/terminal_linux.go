package main

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// A terminal can be handed to the command's process group, as a shell does it
// with a job. All methods of a nil terminal do nothing.
type terminal struct{ fd int }

// openTerminal returns the terminal that standard input is, if this process
// may hand it on: it has it now, and standard output is a terminal, too. In a
// pipeline the terminal belongs to the whole job.
func openTerminal(files [3]*os.File) *terminal {
	for _, file := range files[:2] {
		if _, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS); err != nil {
			return nil
		}
	}
	t := &terminal{fd: int(files[0].Fd())}
	if !t.ours() {
		return nil
	}
	return t
}

// ours reports whether this process's group has the terminal.
func (t *terminal) ours() bool {
	group, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// give hands the terminal to a process group, if this process has it.
func (t *terminal) give(group int) {
	if t != nil && group != 0 && t.ours() {
		t.hand(group)
	}
}

// take takes the terminal back.
func (t *terminal) take() {
	if t != nil {
		t.hand(unix.Getpgrp())
	}
}

// hand makes a group the foreground group. Who is in the background needs to
// ignore SIGTTOU for that. It fails if the terminal or the group is gone, which
// leaves nothing to do.
func (t *terminal) hand(group int) {
	if !signal.Ignored(unix.SIGTTOU) {
		signal.Ignore(unix.SIGTTOU)
		defer signal.Reset(unix.SIGTTOU)
	}
	_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group)
}
