//go:build !linux

package main

import (
	"context"
	"errors"
)

var errLinuxOnly = errors.New("only on Linux can a command be stopped for sure, with all that it started: run it there")

func (r *run) do(context.Context) error { return errLinuxOnly }

func runSupervisor([]string) error { return errLinuxOnly }
