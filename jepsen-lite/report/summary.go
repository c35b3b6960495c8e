package report

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
)

// A Summary is the JSON of a report.
type Summary struct {
	Verdict    check.Verdict       `json:"verdict"`
	Reasons    []string            `json:"reasons,omitempty"`
	Terms      *history.Terms      `json:"terms"`
	Seconds    float64             `json:"seconds"` // of the run's time
	Operations int                 `json:"operations"`
	Faults     int                 `json:"faults"`
	Findings   []check.Finding     `json:"findings"`
	Coverage   []check.Covered     `json:"coverage"`
	Violations []check.Explanation `json:"violations,omitempty"`
}

// JSON writes the report for programs.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(Summary{
		Verdict: r.Judgement.Verdict, Reasons: r.Judgement.Reasons, Terms: r.history.Terms,
		Seconds: r.history.Last().Seconds(), Operations: len(r.history.Ops), Faults: len(r.history.Faults),
		Findings: r.Judgement.Findings, Coverage: r.Judgement.Coverage, Violations: r.Explanations,
	})
}

// ReadSummary reads the JSON of the report in a run's folder. Without one, which
// a run that was cut off has not, the error matches [os.ErrNotExist].
func ReadSummary(dir string) (*Summary, error) {
	text, err := os.ReadFile(filepath.Join(dir, JSONFile))
	if err != nil {
		return nil, fmt.Errorf("read the report: %w", err)
	}
	s := new(Summary)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("read the report %s: %w", filepath.Join(dir, JSONFile), err)
	}
	return s, nil
}
