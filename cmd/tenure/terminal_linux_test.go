package main

import (
	"bytes"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// On a terminal the command under 'tenure run' is what the user talks to:
// it reads, Ctrl-C interrupts it, Ctrl-Z stops the whole job, and continuing the
// job gives it the terminal again.
func TestRunOnATerminal(t *testing.T) {
	cluster := startCluster(t, []string{"--nodes", "1", "--listen", "127.0.0.1:0"}, os.Environ())
	t.Cleanup(func() { cluster.end(t.Fatalf) })
	term := openPseudoTerminal(t)
	run := term.run("tenure", "run", "terminal-1", "--ttl", "1m", "--addr", cluster.addrs[0], "--", "talker")
	term.reads("up")
	term.types("one\n")
	term.reads("got <one>")
	term.types("\x03")
	term.reads("interrupted")
	term.types("two\n")
	term.reads("got <two>")
	term.types("\x1a")
	awaitState(t, run.Process.Pid, "T")
	if err := run.Process.Signal(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	term.types("three\n")
	term.reads("got <three>")
	term.types("\x04")
	term.ends(run, 9)
}

// A job that is stopped and not continued ends at the fence, all of it.
func TestRunStaysStopped(t *testing.T) {
	cluster := startCluster(t, []string{"--nodes", "1", "--listen", "127.0.0.1:0"}, os.Environ())
	t.Cleanup(func() { cluster.end(t.Fatalf) })
	term := openPseudoTerminal(t)
	run := term.run("tenure", "run", "terminal-1", "--ttl", "2s", "--addr", cluster.addrs[0], "--", "talker")
	term.reads("up")
	term.types("\x1a")
	term.ends(run, exitLost)
}

// Afterwards the terminal belongs again to whom it belonged before: whoever
// reads from it in the background is stopped.
func TestRunGivesTheTerminalBack(t *testing.T) {
	cluster := startCluster(t, []string{"--nodes", "1", "--listen", "127.0.0.1:0"}, os.Environ())
	t.Cleanup(func() { cluster.end(t.Fatalf) })
	term := openPseudoTerminal(t)
	shell := term.run("sh", "-c", `tenure run terminal-1 --addr $0 -- sh -c 'read line; echo "command got <$line>"'; read line; echo "shell got <$line>"`,
		cluster.addrs[0])
	term.types("one\n")
	term.reads("command got <one>")
	term.types("two\n")
	term.reads("shell got <two>")
	term.ends(shell, 0)
}

// awaitState waits until a process is in a state, as /proc has it.
func awaitState(t *testing.T, pid int, state string) {
	t.Helper()
	for end := time.Now().Add(testPatience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(stat), ") "+state+" ") {
			return
		}
	}
	t.Fatalf("process %d was never in state %s", pid, state)
}

// A pseudoTerminal is both ends of a terminal.
type pseudoTerminal struct {
	*testing.T
	master *os.File
	slave  *os.File

	mu   sync.Mutex
	text bytes.Buffer // that was read from the master and not been looked for
}

func openPseudoTerminal(t *testing.T) *pseudoTerminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminals: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = slave.Close() })
	term := &pseudoTerminal{T: t, master: master, slave: slave}
	go term.collect()
	return term
}

// collect ends when the master is closed, or nobody has the slave any more.
func (p *pseudoTerminal) collect() {
	chunk := make([]byte, 4096)
	for {
		n, err := p.master.Read(chunk)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.text.Write(chunk[:n])
		p.mu.Unlock()
	}
}

// run starts a command on the terminal, in a session of its own.
func (p *pseudoTerminal) run(name string, args ...string) *osexec.Cmd {
	p.Helper()
	cmd := osexec.Command(name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.slave, p.slave, p.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return cmd
}

// ends waits for a command, which must exit with a code.
func (p *pseudoTerminal) ends(cmd *osexec.Cmd, code int) {
	p.Helper()
	broken := time.AfterFunc(testPatience, func() { _ = cmd.Process.Kill() })
	defer broken.Stop()
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != code {
		p.Errorf("it ended with %v, want exit code %d", err, code)
	}
}

func (p *pseudoTerminal) types(keys string) {
	p.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.Fatal(err)
	}
}

// reads waits until the terminal shows a text after what was looked for before.
func (p *pseudoTerminal) reads(want string) {
	p.Helper()
	for end := time.Now().Add(testPatience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		p.mu.Lock()
		at := bytes.Index(p.text.Bytes(), []byte(want))
		if at >= 0 {
			p.text.Next(at + len(want))
		}
		p.mu.Unlock()
		if at >= 0 {
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Fatalf("the terminal never showed %q, but %q", want, p.text.String())
}
