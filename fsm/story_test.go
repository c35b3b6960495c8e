package fsm

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what happens into the stories")

// TestStories plays the stories in testdata: each tells of one rule. A story
// is a text with steps in between,
//
//	lines of commands, which make one entry, or a single directive
//	----
//	what comes of it, up to the next empty line
//
// and -rewrite writes what comes of it.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			played := play(t, string(text))
			if *rewrite {
				if err := os.WriteFile(file, []byte(played), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if played != string(text) {
				t.Errorf("the story goes differently:\n%s", difference(string(text), played))
			}
		})
	}
}

// play plays a story and returns it as it went.
func play(t *testing.T, text string) string {
	s := &stage{t: t, state: New()}
	var out []string
	var step []string
	skipping := false
	for _, line := range strings.Split(text, "\n") {
		switch {
		case skipping && line != "":
		case line == "----":
			out = append(out, line)
			out = append(out, s.play(step)...)
			audit(t, s.state)
			step, skipping = nil, true
		default:
			skipping = false
			out = append(out, line)
			if step = append(step, line); line == "" || strings.HasPrefix(line, "#") {
				step = nil
			}
		}
	}
	return strings.Join(out, "\n")
}

// difference shows the first lines that differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		if i >= len(w) || i >= len(g) || w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant: %s\ngot:  %s", i+1, strings.Join(w[min(i, len(w)):min(i+3, len(w))], "\n      "), strings.Join(g[min(i, len(g)):min(i+3, len(g))], "\n      "))
		}
	}
	return "none"
}
