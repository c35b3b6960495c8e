package supervise

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The tests run three kinds of processes: the test itself, a front that it
// orders about over a pipe (so that it can be killed), and what the front
// starts. The last ones all hold the writing end of one pipe, and the reading
// end tells when every one of them is gone: nothing has to be slept for.

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case Verb:
			exitWith(Supervise(os.Args[2:]))
		case "front":
			exitWith(runFront(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A wish is what the test asks the front to do.
type wish struct {
	Warn, Kill time.Duration // limits, from now on
	Signal     syscall.Signal
	Now        bool          // Kill
	Grace      time.Duration // of the first wish: before SIGKILL for what is left behind
}

// What a front tells of itself, beside the reports.
const (
	done   Kind = "done"   // with a wish after the first
	killed Kind = "killed" // the wish was Now, or the supervisor was gone
)

// runFront starts a command at the first wish and prints the reports. The
// command's output goes to descriptor 3.
func runFront(argv []string) error {
	wishes := json.NewDecoder(os.Stdin)
	tell := json.NewEncoder(os.Stdout)
	var first wish
	if err := wishes.Decode(&first); err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	unix.CloseOnExec(3)
	out := os.NewFile(3, "out")
	p, err := Start(Command{Path: argv[0], Argv: argv, Env: os.Environ(), Files: [3]*os.File{null, out, os.Stderr},
		Grace: first.Grace}, first.limits())
	if err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	more := make(chan wish)
	go func() {
		defer close(more)
		for {
			var w wish
			if wishes.Decode(&w) != nil {
				return
			}
			more <- w
		}
	}()
	pid := 0
	for {
		select {
		case r, ok := <-p.Reports():
			if !ok {
				return errors.Join(p.Kill(context.Background(), pid), tell.Encode(Report{Kind: killed}))
			}
			if r.Kind == Started {
				pid = r.Pid
			}
			if err := tell.Encode(r); err != nil {
				return err
			}
			if r.Kind == Exited || r.Kind == Failed {
				return p.Close()
			}
		case w := <-more:
			switch {
			case w.Now:
				return errors.Join(p.Kill(context.Background(), pid), tell.Encode(Report{Kind: killed}))
			case w.Signal != 0:
				err = p.Signal(w.Signal)
			default:
				err = p.Extend(w.limits())
			}
			if err := errors.Join(err, tell.Encode(Report{Kind: done})); err != nil {
				return err
			}
		}
	}
}

func (w wish) limits() Limits {
	now := Now()
	return Limits{Warn: now.Add(w.Warn), Kill: now.Add(w.Kill)}
}

// A front is a running front as the test has it.
type front struct {
	*testing.T
	cmd     *exec.Cmd
	wishes  *json.Encoder
	reports *json.Decoder
	output  *bufio.Reader // of what the command started
}

const far = time.Hour // limits that no test reaches

// patience bounds what a test waits for. It is reached only if something is
// broken.
const patience = 30 * time.Second

// startFront runs a shell script under a front.
func startFront(t *testing.T, first wish, script string) *front {
	t.Helper()
	return startFrontOf(t, first, "/bin/sh", "-c", script)
}

func startFrontOf(t *testing.T, first wish, argv ...string) *front {
	t.Helper()
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	if err := in.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"front"}, argv...)...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.ExtraFiles = []*os.File{out}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	broken := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		broken.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	f := &front{T: t, cmd: cmd, wishes: json.NewEncoder(stdin), reports: json.NewDecoder(stdout), output: bufio.NewReader(in)}
	f.send(first)
	return f
}

func (f *front) send(w wish) {
	f.Helper()
	if err := f.wishes.Encode(w); err != nil {
		f.Fatal(err)
	}
}

// wish has the front do something and waits until it has.
func (f *front) wish(w wish) {
	f.Helper()
	f.send(w)
	if w.Now {
		f.report(killed)
	} else {
		f.report(done)
	}
}

// stopped waits until a process is stopped.
func (f *front) stopped(pid int) {
	f.Helper()
	for range 2000 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			f.Fatal(err)
		}
		if strings.Contains(string(stat), ") T ") {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	f.Fatalf("process %d was never stopped", pid)
}

// report takes the next report and compares its kind.
func (f *front) report(kind Kind) Report {
	f.Helper()
	var r Report
	if err := f.reports.Decode(&r); err != nil {
		f.Fatalf("waiting for %s: %v", kind, err)
	}
	if r.Kind != kind {
		f.Fatalf("report %+v, want %s", r, kind)
	}
	return r
}

// line waits for the next line that the command writes.
func (f *front) line(want string) {
	f.Helper()
	got, err := f.output.ReadString('\n')
	if err != nil || strings.TrimSpace(got) != want {
		f.Fatalf("the command wrote %q, %v; want %q", got, err, want)
	}
}

// allGone waits until nobody holds the command's output any more.
func (f *front) allGone() {
	f.Helper()
	rest, err := io.ReadAll(f.output)
	if err != nil || len(rest) > 0 {
		f.Fatalf("the command still wrote %q, %v", rest, err)
	}
}

func (f *front) signal(sig syscall.Signal) {
	f.Helper()
	if err := f.cmd.Process.Signal(sig); err != nil {
		f.Fatal(err)
	}
}

// supervisor finds the supervisor's process, the front's only child.
func (f *front) supervisor() int {
	f.Helper()
	for _, d := range descendants(f.cmd.Process.Pid) {
		if d.parent == f.cmd.Process.Pid {
			return d.pid
		}
	}
	f.Fatal("the front has no child")
	return 0
}
