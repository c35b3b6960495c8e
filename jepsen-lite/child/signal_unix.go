//go:build unix

package child

import "syscall"

func (c *Child) kill() error    { return c.send(syscall.SIGKILL) }
func (c *Child) stop() error    { return c.send(syscall.SIGSTOP) }
func (c *Child) proceed() error { return c.send(syscall.SIGCONT) }

// send signals the group of the process, which has its id.
func (c *Child) send(s syscall.Signal) error { return syscall.Kill(-c.Pid(), s) }
