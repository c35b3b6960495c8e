package process_test

import (
	"os"
	"testing"

	"example.com/tenure/jepsen-lite/process"
)

// The test binary is the program that the arena starts again.
func TestMain(m *testing.M) {
	if process.IsChild() {
		os.Exit(process.Child())
	}
	os.Exit(m.Run())
}
