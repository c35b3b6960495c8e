package mutants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"example.com/tenure/jepsen-lite/check"
)

// A Row is what became of one defect.
type Row struct {
	Defect *Defect
	Seen   Seen          // by the last run; its verdict is Violated if the defect was caught
	Runs   int           // until it was caught or given up
	Took   time.Duration // of these runs, without building
	// Clean are the worst findings of the product without the defect under the
	// same plans.
	Clean Seen
}

// Caught reports whether a run with the defect was a violation.
func (r *Row) Caught() bool { return r.Seen.Verdict == check.Violated }

// OK reports whether the row is as it must be: the defect was caught, and the
// product without it passes.
func (r *Row) OK() bool { return r.Caught() && r.Clean.Verdict == check.Valid }

// A Runner tries defects.
type Runner struct {
	Source *Source
	Dir    string // is filled with a folder for each defect
	clean  string // binary without a defect
}

// Try builds the harness with a defect and runs seeds until one run is a
// violation or its budget is used up; then it runs the same plans without the
// defect.
func (r *Runner) Try(ctx context.Context, d *Defect) (*Row, error) {
	dir := filepath.Join(r.Dir, d.Name)
	if d.Stories != "" {
		return r.tryStories(ctx, d, dir)
	}
	if r.clean == "" {
		clean, err := r.Source.Build(ctx, nil, filepath.Join(r.Dir, "clean"))
		if err != nil {
			return nil, err
		}
		r.clean = clean
	}
	if _, err := os.Stat(dir); err == nil {
		return nil, fmt.Errorf("%s holds the runs of before: name another folder", dir)
	}
	binary, err := r.Source.Build(ctx, d, dir)
	if err != nil {
		return nil, err
	}
	row := &Row{Defect: d}
	if err := row.withDefect(ctx, binary, dir); err != nil {
		return nil, fmt.Errorf("defect %s: %w", d.Name, err)
	}
	if err := row.withoutDefect(ctx, r.clean, dir); err != nil {
		return nil, fmt.Errorf("without defect %s: %w", d.Name, err)
	}
	return row, nil
}

// tryStories tells the stories of the defect's package with it and without it.
func (r *Runner) tryStories(ctx context.Context, d *Defect, dir string) (*Row, error) {
	row := &Row{Defect: d, Runs: 1}
	for _, with := range []struct {
		planted *Defect
		folder  string
		seen    *Seen
	}{{nil, "clean", &row.Clean}, {d, "planted", &row.Seen}} {
		binary, err := r.Source.BuildStories(ctx, d.Stories, with.planted, filepath.Join(dir, with.folder))
		if err != nil {
			return nil, err
		}
		start := time.Now()
		if *with.seen, err = r.Source.tellStories(ctx, binary, d); err != nil {
			return nil, fmt.Errorf("defect %s: %w", d.Name, err)
		}
		row.Took = time.Since(start)
	}
	return row, nil
}

func (r *Row) withDefect(ctx context.Context, binary, dir string) error {
	bounded, cancel := context.WithTimeout(ctx, r.Defect.Budget())
	defer cancel()
	start := time.Now()
	defer func() { r.Took = time.Since(start) }()
	for r.Runs < r.Defect.Seeds && !r.Caught() {
		seed := uint64(r.Runs + 1)
		seen, err := carryOut(bounded, binary, r.Defect, seed, filepath.Join(dir, fmt.Sprintf("seed-%d", seed)))
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		r.Seen = seen
		r.Runs++
	}
	return nil
}

// withoutDefect runs what withDefect has run. A verdict that is not valid stays.
func (r *Row) withoutDefect(ctx context.Context, binary, dir string) error {
	if r.Runs == 0 {
		r.Clean = Seen{Verdict: check.Unknown, Text: "no run with the defect came to its end in time"}
		return nil
	}
	r.Clean.Verdict = check.Valid
	for seed := uint64(1); seed <= uint64(r.Runs) && r.Clean.Verdict != check.Violated; seed++ {
		seen, err := carryOut(ctx, binary, r.Defect, seed, filepath.Join(dir, fmt.Sprintf("clean-%d", seed)))
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		if seen.Verdict != check.Valid {
			r.Clean = seen
		}
	}
	return nil
}
