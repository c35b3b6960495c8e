package mutants

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/tenure/jepsen-lite/check"
)

// WriteTable writes the rows for people.
func WriteTable(w io.Writer, rows []*Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "DEFECT\tARENA\tFAULTS\tCAUGHT BY\tRUNS\tTIME\tWITHOUT IT")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%v\t%s\n", r.Defect.Name, r.Defect.Arena(),
			strings.Join(r.Defect.Faults(), ","), r.caughtBy(), r.Runs, r.Took.Round(100*time.Millisecond), r.Clean.Verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		for _, note := range r.notes() {
			if _, err := fmt.Fprintf(w, "%s: %s\n", r.Defect.Name, note); err != nil {
				return err
			}
		}
	}
	return nil
}

// String tells the row in a line, for progress.
func (r *Row) String() string {
	return fmt.Sprintf("%s: %s after %d runs, %v; without it %s", r.Defect.Name, r.caughtBy(), r.Runs, r.Took.Round(100*time.Millisecond), r.Clean.Verdict)
}

func (r *Row) caughtBy() string {
	if r.Caught() {
		return strings.Join(r.Seen.Checkers, ",")
	}
	return "SURVIVES"
}

// notes are what the table has no room for.
func (r *Row) notes() []string {
	var notes []string
	expected := slices.ContainsFunc(r.Seen.Checkers, func(c string) bool { return slices.Contains(r.Defect.Expects, c) })
	switch {
	case r.Caught() && !expected:
		notes = append(notes, fmt.Sprintf("was caught, but by none of %q, which should", r.Defect.Expects))
	case !r.Caught():
		notes = append(notes, fmt.Sprintf("survived, and should have been caught by one of %q", r.Defect.Expects))
	}
	if r.Clean.Verdict != check.Valid {
		notes = append(notes, fmt.Sprintf("the product without it is %s under the same plans: %s", r.Clean.Verdict, r.Clean.Text))
	}
	return notes
}
