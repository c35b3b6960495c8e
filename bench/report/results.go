package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// A Result is what was measured of one system under one name.
type Result struct {
	Name   string  `json:"name"`   // workload, and what of it
	System string  `json:"system"` // whose
	Unit   string  `json:"unit"`
	Median float64 `json:"median"` // of the rounds
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Rounds int     `json:"rounds"`
}

// Results collect samples, one a round. Add can be called concurrently.
type Results struct {
	mu      sync.Mutex
	order   []sampleKey
	samples map[sampleKey][]float64
	kept    []Result // of an earlier run
}

type sampleKey struct{ name, system, unit string }

// New returns results without samples.
func New() *Results { return &Results{samples: make(map[sampleKey][]float64)} }

// Add adds what one round measured.
func (r *Results) Add(name, system, unit string, value float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := sampleKey{name, system, unit}
	if r.samples[k] == nil {
		r.order = append(r.order, k)
	}
	r.samples[k] = append(r.samples[k], value)
}

// List returns a result for each name and system, in the order in which they
// first came. What an earlier run measured comes first, unless this one
// measured it anew.
func (r *Results) List() []Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []Result
	for _, old := range r.kept {
		if r.samples[sampleKey{old.Name, old.System, old.Unit}] == nil {
			list = append(list, old)
		}
	}
	for _, k := range r.order {
		s := slices.Sorted(slices.Values(r.samples[k]))
		list = append(list, Result{
			Name: k.name, System: k.system, Unit: k.unit,
			Median: Median(s), Min: s[0], Max: s[len(s)-1], Rounds: len(s),
		})
	}
	slices.SortStableFunc(list, func(a, b Result) int { return cmp.Compare(rank(a.Name), rank(b.Name)) })
	return list
}

// Median returns the middle of values in order, 0 if there are none.
func Median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// document is what a results file holds.
type document struct {
	Results []Result `json:"results"`
}

// Keep takes over the results of a file that an earlier run wrote, if it is
// there.
func (r *Results) Keep(path string) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		return fmt.Errorf("%s: not the results of an earlier run: %w", path, err)
	}
	r.kept = d.Results
	return nil
}

// WriteJSON writes the results to a file.
func (r *Results) WriteJSON(path string) error {
	b, err := json.MarshalIndent(document{r.List()}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
