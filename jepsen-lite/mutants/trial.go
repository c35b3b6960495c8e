package mutants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	jepsenlite "example.com/tenure/jepsen-lite"
	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/report"
)

// A Seen is what one run said.
type Seen struct {
	Verdict  check.Verdict
	Checkers []string // that saw a violation
	Text     string   // of the first violation
}

// Stories stands in place of a checker for a defect that the stories of a
// package expose.
const Stories = "stories"

// tellStories runs the stories of the defect's package, which binary has been
// built of.
func (s *Source) tellStories(ctx context.Context, binary string, d *Defect) (Seen, error) {
	run := exec.CommandContext(ctx, binary, "-test.run", "^TestStories$")
	run.WaitDelay = time.Second
	run.Dir = filepath.Join(s.root, filepath.FromSlash(d.Stories))
	said, err := run.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Seen{}, ctx.Err()
	case err == nil:
		return Seen{Verdict: check.Valid}, nil
	case errors.As(err, &exit) && strings.Contains(string(said), "--- FAIL: TestStories/"):
		return Seen{Verdict: check.Violated, Checkers: []string{Stories}, Text: string(said)}, nil
	}
	return Seen{}, fmt.Errorf("run the stories of %s: %w\n%s", d.Stories, err, said)
}

// carryOut runs a defect's plan with a binary. An error is for what says
// nothing about the product.
func carryOut(ctx context.Context, binary string, d *Defect, seed uint64, dir string) (Seen, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Seen{}, err
	}
	if err := d.Plan(seed).WriteFile(filepath.Join(dir, jepsenlite.PlanFile)); err != nil {
		return Seen{}, err
	}
	out := filepath.Join(dir, "out")
	run := exec.CommandContext(ctx, binary, "replay", dir, "--out", out)
	run.WaitDelay = time.Second
	said, err := run.CombinedOutput()
	if ctx.Err() != nil {
		return Seen{}, ctx.Err()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Seen{}, err
	}
	if written := os.WriteFile(filepath.Join(dir, "output.txt"), said, 0o644); written != nil {
		return Seen{}, written
	}
	results, err := report.ReadSummary(out)
	if errors.Is(err, os.ErrNotExist) {
		return Seen{}, fmt.Errorf("the run ended without a verdict:\n%s", said)
	}
	if err != nil {
		return Seen{}, err
	}
	s := Seen{Verdict: results.Verdict}
	if len(results.Reasons) > 0 {
		s.Text = results.Reasons[0]
	}
	for _, f := range results.Findings {
		if f.Verdict == check.Violated {
			s.Checkers = append(s.Checkers, f.Checker)
		}
	}
	return s, nil
}
