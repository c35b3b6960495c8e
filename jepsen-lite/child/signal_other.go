//go:build !unix

package child

import (
	"errors"
	"os/exec"
)

func attach(*exec.Cmd) {}

func (c *Child) kill() error    { return c.cmd.Process.Kill() }
func (c *Child) stop() error    { return errors.ErrUnsupported }
func (c *Child) proceed() error { return errors.ErrUnsupported }

func stopped(int) (bool, error) { return false, errors.ErrUnsupported }
