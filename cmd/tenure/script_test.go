//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The command line is tested by scripts that run the real binary against real
// clusters; scriptcmds_test.go has the commands that they have beside
// testscript's own. Scripts that don't start a cluster share one, and keep to
// keys of their own.

// raceVariable configures the race detector, which else keeps every process for
// a second at its end.
const raceVariable, raceAtEnd = "GORACE", "atexit_sleep_ms=20"

func TestMain(m *testing.M) {
	if os.Getenv(raceVariable) == "" {
		_ = os.Setenv(raceVariable, raceAtEnd) // no more than a second is lost
	}
	testscript.Main(m, map[string]func(){"tenure": main, "talker": talker, "dawdler": dawdler})
}

func TestScripts(t *testing.T) {
	shared := startCluster(t, []string{"--nodes", "1", "--listen", "127.0.0.1:0"}, os.Environ())
	t.Cleanup(func() { shared.end(t.Fatalf) })
	t.Run("scripts", func(t *testing.T) { // ends when all of them have
		testscript.Run(t, testscript.Params{
			Dir:                 "testdata",
			RequireExplicitExec: true,
			Setup: func(env *testscript.Env) error {
				env.Setenv(raceVariable, os.Getenv(raceVariable))
				shared.export(env.Setenv)
				env.Values[scriptKey{}] = newScript(env.Vars)
				return nil
			},
			Cmds: scriptCommands,
		})
	})
}

// A devProcess is a running 'tenure dev'.
type devProcess struct {
	cmd    *osexec.Cmd
	stderr *bytes.Buffer
	addrs  []string
	once   sync.Once
}

// startCluster starts 'tenure dev' on free ports, and waits until it is ready.
func startCluster(t interface{ Fatalf(string, ...any) }, args, env []string) *devProcess {
	cmd := osexec.Command(binary(env), append([]string{"dev", "-o", "json"}, args...)...)
	p := &devProcess{cmd: cmd, stderr: &bytes.Buffer{}}
	cmd.Stderr, cmd.Env = p.stderr, env
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("%v", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v", err)
	}
	broken := time.AfterFunc(testPatience, func() { _ = cmd.Process.Kill() })
	defer broken.Stop()
	var ready greeting
	if err := json.NewDecoder(stdout).Decode(&ready); err != nil {
		_ = cmd.Wait()
		t.Fatalf("tenure dev is not ready: %v\n%s", err, p.stderr)
	}
	p.addrs = ready.Addrs
	return p
}

// binary finds tenure where testscript put it.
func binary(env []string) string {
	path := (&call{env: env}).lookup("PATH")
	return filepath.Join(filepath.SplitList(path)[0], "tenure")
}

// export tells scripts where the nodes are.
func (p *devProcess) export(setenv func(name, value string)) {
	setenv(addrVariable, strings.Join(p.addrs, ","))
	for i, addr := range p.addrs {
		setenv(fmt.Sprintf("ADDR%d", i+1), addr)
	}
}

// end stops the cluster, which must go well.
func (p *devProcess) end(fatalf func(string, ...any)) {
	p.once.Do(func() {
		broken := time.AfterFunc(testPatience, func() { _ = p.cmd.Process.Kill() })
		defer broken.Stop()
		_ = p.cmd.Process.Signal(syscall.SIGCONT) // whoever stopped it may have forgotten
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		if err := p.cmd.Wait(); err != nil {
			fatalf("tenure dev: %v\n%s", err, p.stderr)
		}
	})
}
