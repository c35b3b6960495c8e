package fsm

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// golden compares with the bytes in testdata/golden, kept as a hex dump so that
// a change can be read; -rewrite writes them.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := "testdata/golden/" + name + ".hex"
	if *rewrite {
		if err := os.WriteFile(file, []byte(hex.Dump(got)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if dump := hex.Dump(got); dump != string(want) {
		t.Errorf("%s: these are not the bytes that others have on their disks:\n%s", file, difference(string(want), dump))
	}
}

// goldenBytes returns the bytes of a golden file.
func goldenBytes(t failer, name string) []byte {
	t.Helper()
	dump, err := os.ReadFile("testdata/golden/" + name + ".hex")
	if err != nil {
		t.Fatalf("%v", err)
	}
	var digits strings.Builder
	for _, line := range strings.Split(string(dump), "\n") {
		if len(line) > 58 {
			digits.WriteString(strings.ReplaceAll(line[8:58], " ", ""))
		}
	}
	out, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatalf("%v", err)
	}
	return out
}
