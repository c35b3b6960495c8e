package mutants

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"example.com/tenure/jepsen-lite/plan"
)

//go:embed defects/*.txt plans/*.json
var files embed.FS

// A Defect is something that may be wrong with the product.
type Defect struct {
	Name    string
	What    string   // is broken, in a few words
	Changes []Change // of the source, that break it
	Expects []string // the checkers of which at least one should see it
	Seeds   int      // that are tried, from 1
	// Stories names the folder of the package whose stories expose the defect,
	// for code that nothing in an arena reaches yet; "" if a plan does.
	Stories string
	// Virtual says why the defect shows in the virtual arena only, "" if it does
	// with real processes as well.
	Virtual string
	// Takes is how long it took to catch it when that was last measured,
	// without building; 0 is unknown.
	Takes time.Duration

	draw     plan.Options
	keys     int // in place of what the seed draws, if not 0
	replicas int // likewise, if it is more than that
	snapshot uint64
	fixed    *plan.Plan // in place of all that is drawn, but for the seed
}

// A Change is one replacement in a file of the module.
type Change struct {
	File          string // path from the module's root, with slashes
	Find, Replace string // Find stands in the file exactly once
}

// Unless a defect says otherwise.
const (
	defaultSeeds    = 30
	defaultDuration = 40 * time.Second
)

// All returns every defect, by name.
func All() ([]Defect, error) {
	names, err := fs.Glob(files, "defects/*.txt")
	if err != nil {
		return nil, err
	}
	var all []Defect
	for _, file := range names {
		text, err := files.ReadFile(file)
		if err != nil {
			return nil, err
		}
		d, err := parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("defect %s: %w", file, err)
		}
		d.Name = strings.TrimSuffix(path.Base(file), ".txt")
		all = append(all, *d)
	}
	return all, nil
}

// Cheapest returns the n defects that are caught soonest, by name. Those of
// which that is unknown come last.
func Cheapest(all []Defect, n int) []Defect {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b Defect) int {
		return cmp.Or(-cmp.Compare(min(a.Takes, 1), min(b.Takes, 1)), cmp.Compare(a.Takes, b.Takes))
	})
	sorted = sorted[:min(n, len(sorted))]
	slices.SortFunc(sorted, func(a, b Defect) int { return cmp.Compare(a.Name, b.Name) })
	return sorted
}

// Arena names where the defect is tried.
func (d *Defect) Arena() string {
	if d.Stories != "" {
		return Stories + " of " + d.Stories
	}
	return d.Plan(1).Arena
}

// Faults names the kinds of faults of the defect's plans.
func (d *Defect) Faults() []string {
	if d.Stories != "" {
		return nil
	}
	return d.Plan(1).Kinds
}

// Plan returns the plan of a seed. It calls for no coverage: whether the defect
// is seen is all that matters.
func (d *Defect) Plan(seed uint64) *plan.Plan {
	if d.fixed != nil {
		p := *d.fixed
		p.Seed, p.Coverage = seed, nil
		return &p
	}
	p := plan.Draw(seed, d.draw)
	if d.keys != 0 {
		p.Keys = d.keys
	}
	p.Replicas = max(p.Replicas, d.replicas) // fewer would leave faults without their targets
	if d.snapshot != 0 {
		p.Snapshot = d.snapshot
	}
	p.Coverage = nil
	return p
}
