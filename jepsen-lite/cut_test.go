//go:build unix

package jepsenlite_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	jepsenlite "example.com/tenure/jepsen-lite"
)

// beCut in the environment makes TestToBeCut run.
const beCut = "JEPSENLITE_TEST_TO_BE_CUT"

// TestToBeCut is a long run for TestCutOff.
func TestToBeCut(t *testing.T) {
	if os.Getenv(beCut) == "" {
		t.Skip("it is for TestCutOff")
	}
	c := toyRun(t, noDefect, 1)
	c.Duration = time.Minute
	jepsenlite.Run(t, c)
}

// A run that is interrupted, or killed, leaves no process behind, and its
// history as far as it went.
func TestCutOff(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	signals := []syscall.Signal{syscall.SIGINT}
	if runtime.GOOS == "linux" {
		signals = append(signals, syscall.SIGKILL)
	}
	for _, signal := range signals {
		dir := t.TempDir()
		cmd := exec.Command(exe, "-test.run", "^TestToBeCut$", "-test.v")
		cmd.Env = append(os.Environ(), beCut+"=1", jepsenlite.EnvDir+"="+dir)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var run string
		await(t, "the run", func() bool {
			found, _ := filepath.Glob(filepath.Join(dir, "TestToBeCut", "seed-1-*", "shared", "lock"))
			if len(found) == 1 {
				run = filepath.Dir(filepath.Dir(found[0]))
			}
			return run != "" && hasLines(filepath.Join(run, jepsenlite.HistoryFile))
		})
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Errorf("a run that was cut off by %v passes:\n%s", signal, &out)
		}
		await(t, "the owner's end", func() bool { return lockIsFree(t, run) })
		var text strings.Builder
		if r, err := jepsenlite.Judge(filepath.Join(run, jepsenlite.HistoryFile), "", &text); err != nil || !strings.Contains(text.String(), "the run was cut off") {
			t.Errorf("%v: %v, %v, %s", signal, r, err, &text)
		}
	}
}

// hasLines reports whether a file has a line at least.
func hasLines(path string) bool {
	b, err := os.ReadFile(path)
	return err == nil && bytes.IndexByte(b, '\n') >= 0
}

// lockIsFree reports whether no replica of a toy lives that owns the keys or
// waits for them: each has the lock in its turn until it dies.
func lockIsFree(t *testing.T, run string) bool {
	f, err := os.Open(filepath.Join(run, "shared", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

// Nothing of the harness is left in the process of the test, here with a fleet
// of one.
func TestLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	c := toyConfig(t, &inProcess{values: make(map[string][]uint64)})
	c.Duration, c.Replicas = time.Second, 1
	b := &book{name: t.Name()}
	if r := jepsenlite.Run(b, c); r == nil || b.errs.Len() > 0 || !strings.Contains(b.logs.String(), "a single replica has no links") {
		t.Errorf("%s%s", &b.logs, &b.errs)
	}
	goleak.VerifyNone(t, before)
}
