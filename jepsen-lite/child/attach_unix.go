//go:build unix && !linux

package child

import (
	"errors"
	"os/exec"
	"syscall"
)

func attach(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

func stopped(int) (bool, error) { return false, errors.ErrUnsupported }
