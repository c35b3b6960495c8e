package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/report"
)

const (
	// aloneEnv is set for a run that a soak carries out in a process of its
	// own, and that ends with the soak.
	aloneEnv = "JEPSEN_LITE_ENDS_WITH_STDIN"
	// endingTakes bounds how long such a run may take to clean up when the soak
	// is interrupted.
	endingTakes = 30 * time.Second
	// Of so many runs in virtual time one has all processors, and the others
	// have one: they take three quarters of the time then, but their goroutines
	// only take turns.
	onAllProcessors = 4
)

// apart carries out the n-th run of a soak in a process of its own, and writes
// what that says to told. An error says why there is no verdict: a process that
// ended with an exit code and without a report has crashed.
func apart(ctx context.Context, n uint64, run task, told *bytes.Buffer) (check.Verdict, error) {
	program, err := self()
	if err != nil {
		return "", err
	}
	alive, here, err := os.Pipe() // closed when this process ends, however it does
	if err != nil {
		return "", err
	}
	defer here.Close()
	defer alive.Close()
	cmd := exec.CommandContext(ctx, program)
	cmd.Args = append([]string{os.Args[0]}, run.args...)
	cmd.Env = append(os.Environ(), aloneEnv+"=1")
	if run.plan.Arena == plan.Virtual && n%onAllProcessors != 0 && os.Getenv("GOMAXPROCS") == "" {
		cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = alive, told, told
	cmd.Cancel = func() error { return interrupt(cmd.Process) }
	cmd.WaitDelay = endingTakes
	ended := cmd.Run()
	results, err := report.ReadSummary(run.dir)
	switch {
	case err == nil && cmd.ProcessState.ExitCode() == exitOf(results.Verdict):
		return results.Verdict, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", fmt.Errorf("the process of the run ended without a verdict: %w", errors.Join(ended, err))
}

// self returns what to start for another process of this very program, even if
// its file has been replaced since.
func self() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// interrupt asks a process to clean up and end, where the system can.
func interrupt(p *os.Process) error {
	if runtime.GOOS == "windows" {
		return p.Kill()
	}
	return p.Signal(syscall.SIGTERM)
}

// endWithStdin ends this process as soon as nobody can write to its standard
// input any more.
func endWithStdin() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(exitCrashed)
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
