package process_test

import (
	"os"
	"testing"

	"example.com/tenure/jepsen-lite/process"
)

// The test binary is the program that the arena starts again, and, where a
// test kills it, the arena itself.
func TestMain(m *testing.M) {
	switch {
	case process.IsChild():
		os.Exit(process.Child())
	case os.Getenv(victimEnv) != "":
		os.Exit(victim(os.Getenv(victimEnv)))
	}
	os.Exit(m.Run())
}
