//go:build unix

package fleet

import (
	"os/exec"
	"syscall"
)

// detach keeps an interrupt that is typed at the terminal from the replicas.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// freeze stops the process between two of its instructions.
func (p *process) freeze() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// thaw lets it go on.
func (p *process) thaw() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
