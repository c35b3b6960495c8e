package fleet

import (
	"fmt"
	"slices"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/plan"
)

// Bounds of a plan.
const (
	MaxReplicas = 9
	MaxKeys     = 1000
	MaxTTL      = time.Hour
	MaxLength   = 24 * time.Hour
)

// Validate reports, as a [*tenure.InvalidError], the first value that no run
// can be made of.
func (p *Plan) Validate() error {
	switch {
	case p.Version != Version:
		return invalid("version", p.Version, "%d", Version)
	case p.Arena != Name:
		return invalid("arena", p.Arena, "%q", Name)
	case p.Replicas < 1 || p.Replicas > MaxReplicas:
		return invalid("replicas", p.Replicas, "from 1 to %d", MaxReplicas)
	case len(p.Keys) < 1 || len(p.Keys) > MaxKeys:
		return invalid("keys", len(p.Keys), "from 1 to %d", MaxKeys)
	case p.TTL < 1 || p.TTL > plan.Duration(MaxTTL):
		return invalid("ttl", p.TTL, "above 0s and at most %v", MaxTTL)
	case p.Safety < plan.Duration(time.Second) || p.Safety > plan.Duration(MaxLength):
		return invalid("safety", p.Safety, "from 1s to %v", MaxLength)
	case p.Available < 1 || p.Available > plan.Duration(MaxLength):
		return invalid("available", p.Available, "above 0s and at most %v", MaxLength)
	}
	if err := uniqueKeys(p.Keys); err != nil {
		return err
	}
	for _, name := range p.Kinds {
		if !slices.Contains(Kinds(), name) {
			return invalid("kinds", name, "one of %q", Kinds())
		}
	}
	for i := range p.Faults {
		if err := p.validateFault(i); err != nil {
			return err
		}
	}
	return p.validateApart()
}

func uniqueKeys(keys []string) error {
	sorted := slices.Sorted(slices.Values(keys))
	for i, key := range sorted {
		if key == "" || i > 0 && key == sorted[i-1] {
			return invalid("keys", fmt.Sprintf("%q", key), "not empty, and each only once")
		}
	}
	return nil
}

func (p *Plan) validateFault(i int) error {
	f := &p.Faults[i]
	field := func(name string) string { return fmt.Sprintf("faults[%d].%s", i, name) }
	k, known := kindOf(f.Kind)
	switch {
	case !known || !slices.Contains(p.Kinds, f.Kind):
		return invalid(field("kind"), f.Kind, "one of the plan's kinds, %q", p.Kinds)
	case i > 0 && f.At < p.Faults[i-1].At:
		return invalid(field("at"), f.At, "at least that of the fault before it, %v", p.Faults[i-1].At)
	case f.At < 0 || f.For < 0 || f.Ends() > time.Duration(p.Safety):
		return invalid(field("at"), f.At, "so that the fault is healed within the safety phase of %v", p.Safety)
	case k.instant && f.For != 0:
		return invalid(field("for"), f.For, "0s, a %s is over as soon as it is taken", k.name)
	case time.Duration(f.For) < k.shortest:
		return invalid(field("for"), f.For, "at least %v for a %s", k.shortest, k.name)
	case len(f.Targets) == 0:
		return invalid(field("targets"), "[]", "at least one")
	case f.Rate != nil:
		return invalid(field("rate"), *f.Rate, "left out")
	case f.Delay < 0 || f.Jitter < 0 || f.Kind != plan.Slow && f.Delay+f.Jitter > 0:
		return invalid(field("delay"), f.Delay, "at least 0s, and 0s but for a %s", plan.Slow)
	case f.Kind == plan.Throttle && f.Bytes < plan.MinBytes || f.Kind != plan.Throttle && f.Bytes != 0:
		return invalid(field("bytes"), f.Bytes, "at least %d for a %s, and else left out", plan.MinBytes, plan.Throttle)
	}
	for _, target := range f.Targets {
		if !p.isTarget(k, target) {
			return invalid(field("targets"), target, "what a %s can strike: %s", k.name, k.strikes())
		}
	}
	return nil
}

func (p *Plan) isTarget(k kind, target string) bool {
	names := replicaNames(p.Replicas)
	if !k.links {
		return target == Owner || slices.Contains(names, target)
	}
	from, to, ok := plan.Ends(target)
	return ok && from != to && slices.Contains(names, from) && slices.Contains(names, to)
}

func (k kind) strikes() string {
	if k.links {
		return "links as r1>r2"
	}
	return "replicas as r1, or " + Owner
}

// validateApart reports two faults that strike one replica, or two of one kind
// that strike one link, at the same time: healing one would heal the other.
func (p *Plan) validateApart() error {
	ends := make(map[string]time.Duration)
	for i := range p.Faults {
		f := &p.Faults[i]
		for _, target := range f.Targets {
			if end, struck := ends[striking(f, target)]; struck && time.Duration(f.At) < end {
				return invalid(fmt.Sprintf("faults[%d].at", i), f.At, "at least %v, when what strikes %s before it is healed", end, target)
			}
			ends[striking(f, target)] = f.Ends()
		}
	}
	return nil
}

// striking names what can't be struck twice at the same time.
func striking(f *plan.Fault, target string) string {
	if k, _ := kindOf(f.Kind); !k.links {
		return target
	}
	return f.Kind + " " + target
}

func replicaNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = plan.ReplicaName(i)
	}
	return names
}

func invalid(field string, value any, bound string, args ...any) error {
	return &tenure.InvalidError{Field: field, Value: fmt.Sprint(value), Bound: fmt.Sprintf(bound, args...)}
}
