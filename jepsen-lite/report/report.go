package report

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
)

// The names of the files in a run's folder.
const (
	JSONFile  = "results.json"
	JUnitFile = "junit.xml"
	HTMLFile  = "timeline.html"
)

// A Report is what is told of a run.
type Report struct {
	Judgement    check.Judgement
	Explanations []check.Explanation
	history      *history.History
}

// New explains the violations of a judgement.
func New(h *history.History, j check.Judgement) *Report {
	r := &Report{Judgement: j, history: h}
	for _, v := range j.Violations() {
		r.Explanations = append(r.Explanations, check.Explain(h, v))
	}
	return r
}

// Text writes the report for a terminal: violations first, the verdict last.
func (r *Report) Text(w io.Writer) error {
	for _, x := range r.Explanations {
		if _, err := fmt.Fprintln(w, x); err != nil {
			return err
		}
	}
	for _, f := range r.Judgement.Findings {
		text := fmt.Sprintf("%-10s %-9s looked at %d in %v", f.Checker, f.Verdict, f.Looked, f.Took.Round(time.Millisecond))
		if f.Reason != "" {
			text += ": " + f.Reason
		}
		if f.More > 0 {
			text += fmt.Sprintf(": %d violations more than are told", f.More)
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	for _, c := range r.Judgement.Coverage {
		if _, err := fmt.Fprintf(w, "%-18s %d of at least %d\n", c.Name, c.Seen, c.Wanted); err != nil {
			return err
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(r.history.Terms.Off)) {
		if _, err := fmt.Fprintf(w, "fault %-12s off: %s\n", kind, r.history.Terms.Off[kind]); err != nil {
			return err
		}
	}
	if r.Judgement.Verdict == check.Unknown {
		for _, reason := range r.Judgement.Reasons {
			if _, err := fmt.Fprintf(w, "unknown because of %s\n", reason); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintf(w, "verdict: %s\n", r.Judgement.Verdict)
	return err
}

// WriteFiles writes the three files into a folder.
func (r *Report) WriteFiles(dir string) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{{JSONFile, r.JSON}, {JUnitFile, r.JUnit}, {HTMLFile, r.HTML}} {
		if err := writeFile(filepath.Join(dir, f.name), f.write); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close() // the first error counts
		return err
	}
	return f.Close()
}
