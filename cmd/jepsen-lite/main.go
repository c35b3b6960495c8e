// Command jepsen-lite puts lease clusters under faults and checks that a key
// has at most one owner. See usage.go for its verbs.
package main

import (
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"testing"

	"example.com/tenure/jepsen-lite/process"
)

// Exit codes, as Jepsen's.
const (
	exitValid     = 0
	exitViolation = 1
	exitUnknown   = 2
	exitUsage     = 254
	exitCrashed   = 255
)

// An environment is what a verb works with.
type environment struct {
	stdout, stderr io.Writer
	// test calls f with a test, which testing/synctest demands, and returns
	// its exit code.
	test func(f func(t *testing.T) int) int
}

// gcPercent trades memory, of which a run takes little, for time: a run in
// virtual time is as fast as the processor.
const gcPercent = 400

func main() {
	if process.IsChild() {
		os.Exit(process.Child())
	}
	if os.Getenv(aloneEnv) != "" {
		os.Unsetenv(aloneEnv)       // it is not for what the run starts
		signal.Ignore(os.Interrupt) // of the terminal, which the soak gets as well: it says what is to happen
		go endWithStdin()
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(dispatch(os.Args[1:], environment{os.Stdout, os.Stderr, inTest}))
}

// inTest calls f as the only test of a test binary, which ends the process
// with f's exit code. The testing package has no other way to a *testing.T;
// testing.RunTests would run nothing and say that all is well.
func inTest(f func(t *testing.T) int) int {
	os.Args = os.Args[:1] // which the testing package would read as its own
	everything := func(_, _ string) (bool, error) { return true, nil }
	run := func(t *testing.T) { os.Exit(f(t)) }
	testing.Main(everything, []testing.InternalTest{{Name: "jepsen-lite", F: run}}, nil, nil)
	return exitCrashed // it does not return
}
