package mutants

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/tenure/jepsen-lite/plan"
)

// How long a defect's runs may take until one shows it, without building.
const (
	virtualBudget = 20 * time.Second
	processBudget = 60 * time.Second
	// inRealTime is how long faults come and go in a drawn plan for processes,
	// so that there is time for more than one.
	inRealTime = 12 * time.Second
	// longestInRealTime bounds that time in a plan that was written down.
	longestInRealTime = 45 * time.Second
)

// Budget is how long the defect's runs may take until one shows it, without
// building.
func (d *Defect) Budget() time.Duration {
	if d.Arena() == plan.Process {
		return processBudget
	}
	return virtualBudget
}

// In returns the defect as it is tried in an arena. An error says what keeps it
// from that.
func (d *Defect) In(arena string) (*Defect, error) {
	if d.Arena() == arena {
		return d, nil
	}
	if d.Stories != "" {
		return nil, fmt.Errorf("%s is exposed by the stories of %s only", d.Name, d.Stories)
	}
	if d.Virtual != "" && arena != plan.Virtual {
		return nil, fmt.Errorf("%s shows in the virtual arena only: %s", d.Name, d.Virtual)
	}
	there := *d
	there.draw.Arena = arena
	if there.draw.Safety == defaultDuration && arena == plan.Process {
		there.draw.Safety = inRealTime
	}
	if d.fixed != nil {
		there.fixed = cut(d.fixed, longestInRealTime)
		there.fixed.Arena = arena
	}
	var lacks []string
	for _, kind := range there.Faults() {
		if !slices.Contains(plan.KindsOf(arena), kind) {
			lacks = append(lacks, kind)
		}
	}
	if len(lacks) > 0 {
		return nil, fmt.Errorf("%s needs %s, which the arena %q has not", d.Name, strings.Join(lacks, ", "), arena)
	}
	if err := there.Plan(1).Validate(); err != nil {
		return nil, fmt.Errorf("%s can't be tried in the arena %q: %w", d.Name, arena, err)
	}
	return &there, nil
}

// cut returns a plan without what comes after so much of its safety phase.
func cut(p *plan.Plan, safety time.Duration) *plan.Plan {
	short := *p
	short.Safety = min(p.Safety, plan.Duration(safety))
	short.Faults = nil
	for _, f := range p.Faults {
		if f.At < short.Safety {
			f.For = min(f.For, short.Safety-f.At)
			short.Faults = append(short.Faults, f)
		}
	}
	return &short
}
