//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// scriptCommands are what scripts have beside testscript's own commands.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"cluster": plain(cmdCluster), // cluster [ARG...]: starts 'tenure dev' on free ports; sets TENURE_ADDR, ADDR1, ADDR2, ...
	"end":     plain(cmdEnd),     // end: stops that cluster
	"free":    plain(cmdFree),    // free NAME...: sets variables to addresses with free ports
	"exits":   plain(cmdExits),   // exits CODE CMD [ARG...]: runs a command that must exit with CODE
	"until":   plain(cmdUntil),   // until REGEXP CMD [ARG...]: runs a command again and again until it prints that
	"spawn":   plain(cmdSpawn),   // spawn NAME CMD [ARG...]: starts a command; its output goes to NAME.out and NAME.err
	"signal":  plain(cmdSignal),  // signal NAME SIG: sends it a signal
	"finish":  plain(cmdFinish),  // finish NAME CODE|SIG: waits for it and for all who have its output; it must end so
	"value":   plain(cmdValue),   // value NAME REGEXP: sets a variable to the group's match in the last output
}

// plain makes a command of a function, one that can't be negated.
func plain(cmd func(ts *testscript.TestScript, args []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("this command can't be negated")
		}
		cmd(ts, args)
	}
}

// A script is what belongs to one running script.
type script struct {
	names   []string // of the environment's variables
	dev     *devProcess
	spawned map[string]*osexec.Cmd
}

type scriptKey struct{}

func newScript(vars []string) *script {
	s := &script{spawned: map[string]*osexec.Cmd{}}
	for _, entry := range vars {
		name, _, _ := strings.Cut(entry, "=")
		s.names = append(s.names, name)
	}
	return s
}

func scriptOf(ts *testscript.TestScript) *script { return ts.Value(scriptKey{}).(*script) }

// env returns the environment as the script has it now.
func (s *script) env(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range s.names {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

func cmdCluster(ts *testscript.TestScript, args []string) {
	s := scriptOf(ts)
	args = slices.Clone(args)
	for i, arg := range args[:max(len(args)-1, 0)] {
		if arg == "--data" { // the process has another working directory
			args[i+1] = ts.MkAbs(args[i+1])
		}
	}
	if !slices.Contains(args, "--listen") {
		args = append(args, "--listen", "127.0.0.1:0")
	}
	dev := startCluster(ts, args, s.env(ts))
	s.dev = dev
	dev.export(ts.Setenv)
	ts.Defer(func() { dev.end(ts.Fatalf) })
	s.spawned["cluster"] = dev.cmd
}

func cmdEnd(ts *testscript.TestScript, _ []string) { scriptOf(ts).dev.end(ts.Fatalf) }

func cmdFree(ts *testscript.TestScript, names []string) {
	for _, name := range names {
		ts.Setenv(name, freeAddr())
	}
}

// freeAddr returns an address with a free port below those that systems give
// to connections, so that it stays free.
func freeAddr() string {
	for {
		addr := fmt.Sprintf("127.0.0.1:%d", 15000+rand.IntN(15000))
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close() // nobody has used it
			return addr
		}
	}
}

// runs runs a command and returns its exit code.
func runs(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	var exit *osexec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

func cmdExits(ts *testscript.TestScript, args []string) {
	if code := runs(ts, args[1:]); strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

func cmdUntil(ts *testscript.TestScript, args []string) {
	want := regexp.MustCompile(`(?m)` + args[0])
	for end := time.Now().Add(testPatience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		runs(ts, args[1:])
		if want.MatchString(ts.ReadFile("stdout") + ts.ReadFile("stderr")) {
			return
		}
	}
	ts.Fatalf("never printed")
}

func cmdSpawn(ts *testscript.TestScript, args []string) {
	s, name := scriptOf(ts), args[0]
	path := args[1]
	if path == "tenure" || path == "dawdler" {
		path = filepath.Join(filepath.Dir(binary(s.env(ts))), path)
	}
	cmd := osexec.Command(path, args[2:]...)
	cmd.Args[0] = args[1]
	cmd.Dir, cmd.Env = ts.MkAbs("."), s.env(ts)
	// Writers that are no files make Wait wait for all who have the output.
	var files [2]io.Writer
	for i, suffix := range []string{".out", ".err"} {
		file, err := os.Create(ts.MkAbs(name + suffix))
		ts.Check(err)
		files[i] = struct{ io.Writer }{file}
	}
	cmd.Stdout, cmd.Stderr = files[0], files[1]
	ts.Check(cmd.Start())
	s.spawned[name] = cmd
	ts.Defer(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
}

func cmdSignal(ts *testscript.TestScript, args []string) {
	sig := unix.SignalNum("SIG" + args[1])
	if sig == 0 {
		ts.Fatalf("no signal %s", args[1])
	}
	ts.Check(scriptOf(ts).spawned[args[0]].Process.Signal(sig))
}

func cmdFinish(ts *testscript.TestScript, args []string) {
	name, want := args[0], args[1]
	cmd := scriptOf(ts).spawned[name]
	late := false
	broken := time.AfterFunc(testPatience, func() {
		late = true
		_ = cmd.Process.Kill()
	})
	cmd.WaitDelay = testPatience
	_ = cmd.Wait() // how it ended is compared below
	broken.Stop()
	ts.Logf("[%s.out]\n%s[%s.err]\n%s", name, ts.ReadFile(name+".out"), name, ts.ReadFile(name+".err"))
	got := strconv.Itoa(cmd.ProcessState.ExitCode())
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		got = strings.TrimPrefix(unix.SignalName(status.Signal()), "SIG")
	}
	if got != want || late {
		ts.Fatalf("%s ended with %s, want %s (too late: %v)", name, got, want, late)
	}
}

func cmdValue(ts *testscript.TestScript, args []string) {
	match := regexp.MustCompile(`(?m)` + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(match) != 2 {
		ts.Fatalf("%s does not match", args[1])
	}
	ts.Setenv(args[0], match[1])
}
