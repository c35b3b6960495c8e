//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/plan"
)

// A run whose process ends without a report has crashed, whatever its exit code
// is: that of a panic is the one of an unknown verdict.
func TestCrashedRun(t *testing.T) {
	defer func(name string) { os.Args[0] = name }(os.Args[0])
	os.Args[0] = "jepsen-lite" // what the processes are to be, and not these tests again
	dir := t.TempDir()
	p := plan.Draw(1, plan.Options{Safety: time.Second})
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no such verb", []string{"dance"}, "exit status 254"},
		{"a crash", []string{"check", filepath.Join(dir, "nowhere")}, "exit status 255"},
		{"valid, they say", []string{"help"}, "results.json"},
	} {
		var told bytes.Buffer
		verdict, err := apart(t.Context(), 1, task{p, dir, c.args}, &told)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: verdict %q, error %v, want one with %q", c.name, verdict, err, c.want)
		}
	}
}

// A run of a soak ends when the soak has been killed.
func TestRunEndsWithItsSoak(t *testing.T) {
	program, err := self()
	if err != nil {
		t.Fatal(err)
	}
	alive, here, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Args = []string{"jepsen-lite", "run", "--duration", "24h", "--out", filepath.Join(t.TempDir(), "out")}
	cmd.Env = append(os.Environ(), aloneEnv+"=1")
	cmd.Stdin = alive
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	alive.Close()
	here.Close() // as the system does when the soak is killed
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the run goes on")
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		<-ended
	}
	if code := cmd.ProcessState.ExitCode(); code != exitCrashed {
		t.Errorf("it ended with %d, want %d", code, exitCrashed)
	}
}
