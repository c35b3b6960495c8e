//go:build !unix

package fleet

import (
	"errors"
	"os/exec"
)

func detach(*exec.Cmd) {}

func (p *process) freeze() error { return errors.ErrUnsupported }

func (p *process) thaw() error { return errors.ErrUnsupported }
