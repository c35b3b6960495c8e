//go:build unix

package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A soak that is interrupted tells what it has so far, is unknown, and leaves
// neither processes nor folders of what was cut off.
func TestInterruptedSoak(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	cmd := exec.Command(program)
	cmd.Args = []string{"jepsen-lite", "run", "--seed", "5", "--duration", "5s", "--faults", "transfer", "--for", "1h", "--out", out}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for text := bufio.NewScanner(stdout); text.Scan(); { // ends when no process has the other end
		lines = append(lines, text.Text())
		if len(lines) == 2 {
			// As a terminal does it: to all processes of the group.
			if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitUnknown {
		t.Errorf("it ended with %v, want exit code %d", err, exitUnknown)
	}
	told := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "interrupted") })
	if told < 0 || told+1 == len(lines) || !strings.Contains(lines[told+1], " valid, 0 unknown, 0 violations, 0 that could not be carried out") {
		t.Errorf("it said nothing of what it had:\n%s", strings.Join(lines, "\n"))
	}
	left, err := os.ReadDir(out)
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
