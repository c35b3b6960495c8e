package main

import (
	"io"
	"testing"
)

// The exit codes are Jepsen's.
func TestExitCodes(t *testing.T) {
	env := environment{io.Discard, io.Discard, nil}
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"help"}, 0},
		{[]string{"check", "../../jepsen-lite/testdata/good/takeover.jsonl"}, 0},
		{[]string{"check", "../../jepsen-lite/testdata/bad/data-phantom.jsonl"}, 1},
		{[]string{}, 254},
		{[]string{"dance"}, 254},
		{[]string{"check"}, 254},
		{[]string{"check", "nowhere"}, 255},
		{[]string{"run", "--faults", "fire"}, 254},
		{[]string{"replay", "nowhere"}, 255},
		{[]string{"mutants", "--cheapest", "-1"}, 254},
		{[]string{"mutants", "--only", "nothing"}, 254},
		{[]string{"mutants", "--arena", "moon"}, 254},
		{[]string{"mutants", "--arena", "process", "--only", "flipped-bit-applied"}, 254},
	} {
		if got := dispatch(c.args, env); got != c.want {
			t.Errorf("jepsen-lite %q: exit %d, want %d", c.args, got, c.want)
		}
	}
}
