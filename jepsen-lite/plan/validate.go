package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/tenure"
)

// Bounds of a plan.
const (
	MaxNodes    = 9
	MaxReplicas = 64
	MaxKeys     = 10000
	MaxLength   = 31 * 24 * time.Hour
	MaxRate     = 10
	MinBytes    = 1 << 10 // a second, of a throttled link
)

// A bounded is a number that has to lie between two others.
type bounded struct {
	field         string
	value         int
	least, atMost int
}

// Validate reports, as a [*tenure.InvalidError], the first value that no run
// can be made of.
func (p *Plan) Validate() error {
	sizes := []bounded{
		{"version", p.Version, Version, Version},
		{"nodes", p.Nodes, 1, MaxNodes},
		{"replicas", p.Replicas, 1, MaxReplicas},
		{"keys", p.Keys, 1, MaxKeys},
	}
	most := 0
	if p.Arena == Virtual {
		most = min(p.Nodes, p.Replicas)
	}
	sizes = append(sizes, bounded{"embedded", p.Embedded, 0, most})
	for _, s := range sizes {
		if s.value < s.least || s.value > s.atMost {
			return invalid(s.field, s.value, "from %d to %d", s.least, s.atMost)
		}
	}
	if err := p.validateTimes(); err != nil {
		return err
	}
	if err := allOf("workloads", p.Workload, Workloads()); err != nil {
		return err
	}
	if len(p.Workload) == 0 {
		return invalid("workloads", "[]", "at least one of %q", Workloads())
	}
	if err := allOf("arena", []string{p.Arena}, Arenas()); err != nil {
		return err
	}
	if err := allOf("kinds", p.Kinds, KindsOf(p.Arena)); err != nil {
		return err
	}
	for i := range p.Faults {
		if err := p.validateFault(i); err != nil {
			return err
		}
	}
	return p.validateApart()
}

func (p *Plan) validateTimes() error {
	if err := tenure.ValidateTTL(time.Duration(p.TTL), tenure.DefaultLargestTTL); err != nil {
		return err
	}
	if err := tenure.ValidateMargin(time.Duration(p.Margin), time.Duration(p.TTL)); err != nil {
		return err
	}
	for _, t := range []struct {
		field        string
		value, least Duration
	}{
		{"election", p.Election, Duration(50 * time.Millisecond)},
		{"safety", p.Safety, Duration(time.Second)},
		{"liveness", p.Liveness, 0},
		{"available", p.Available, 0},
	} {
		if t.value < t.least || time.Duration(t.value) > MaxLength {
			return invalid(t.field, t.value, "from %v to %v", t.least, MaxLength)
		}
	}
	if p.Available > p.Liveness {
		return invalid("available", p.Available, "at most the liveness phase, %v", p.Liveness)
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
	case f.At < 0 || f.Ends() > time.Duration(p.Safety):
		return invalid(field("at"), f.At, "so that the fault is healed within the safety phase of %v", p.Safety)
	case k.instant && f.For != 0:
		return invalid(field("for"), f.For, "0s, a %s is over as soon as it is taken", k.name)
	case time.Duration(f.For) < k.shortest:
		return invalid(field("for"), f.For, "at least %v for a %s", k.shortest, k.name)
	case len(f.Targets) == 0:
		return invalid(field("targets"), "[]", "at least one")
	}
	if err := f.validateSays(k, field); err != nil {
		return err
	}
	for _, target := range f.Targets {
		if !p.isTarget(k, target) {
			return invalid(field("targets"), target, "what a %s can strike: %s", k.name, k.strikes())
		}
	}
	return nil
}

// validateSays reports a field that counts for the fault's kind and is missing
// or out of its bounds, or that is given and does not count.
func (f *Fault) validateSays(k kind, field func(string) string) error {
	switch {
	case (f.Rate != nil) != k.says.has(saysRate):
		return invalid(field("rate"), f.Kind, "given for %s, and for nothing else", whoSay(saysRate))
	case f.Rate != nil && !(*f.Rate >= 0 && *f.Rate <= MaxRate):
		return invalid(field("rate"), *f.Rate, "from 0 to %d", MaxRate)
	case f.Delay < 0 || f.Delay > 0 && !k.says.has(saysDelay):
		return invalid(field("delay"), f.Delay, "at least 0s, and 0s but for %s", whoSay(saysDelay))
	case f.Jitter < 0 || f.Jitter > 0 && !k.says.has(saysJitter):
		return invalid(field("jitter"), f.Jitter, "at least 0s, and 0s but for %s", whoSay(saysJitter))
	case k.says.has(saysDelay) && k.instant && f.Delay == 0:
		return invalid(field("delay"), f.Delay, "more than 0s for a %s", k.name)
	case f.Counted && !k.says.has(saysCounted):
		return invalid(field("counted"), f.Counted, "false but for %s", whoSay(saysCounted))
	case k.says.has(saysBytes) && f.Bytes < MinBytes || !k.says.has(saysBytes) && f.Bytes != 0:
		return invalid(field("bytes"), f.Bytes, "at least %d for %s, and 0 for anything else", MinBytes, whoSay(saysBytes))
	case k.points == nil && f.Point != "":
		return invalid(field("point"), f.Point, "empty, a %s strikes at once", k.name)
	case k.points != nil && !slices.Contains(k.points, f.Point):
		return invalid(field("point"), f.Point, "one of %q", k.points)
	}
	return nil
}

// whoSay names the kinds for which a field counts.
func whoSay(field saying) string {
	return strings.Join(named(func(k kind) bool { return k.says.has(field) }), ", ")
}

// isTarget reports whether faults of the kind can strike the target.
func (p *Plan) isTarget(k kind, target string) bool {
	if k.links {
		from, to, ok := Ends(target)
		return ok && from != to && p.isHost(from, true, true) && p.isHost(to, true, true)
	}
	return p.isHost(target, k.nodes, k.replicas)
}

func (p *Plan) isHost(name string, nodes, replicas bool) bool {
	if nodes && name == Leader {
		return true
	}
	for i := range p.Nodes {
		if nodes && name == NodeName(i) {
			return true
		}
	}
	for i := range p.Replicas {
		if replicas && name == ReplicaName(i) {
			return true
		}
	}
	return false
}

func (k kind) strikes() string {
	var what []string
	if k.links {
		what = append(what, "links as n1>n2")
	}
	if k.nodes {
		what = append(what, "nodes as n1 or "+Leader)
	}
	if k.replicas {
		what = append(what, "replicas as r1")
	}
	return strings.Join(what, ", ")
}

// validateApart reports two faults of one kind that strike one target at the
// same time: healing one would heal the other.
func (p *Plan) validateApart() error {
	ends := make(map[string]time.Duration)
	for i := range p.Faults {
		f := &p.Faults[i]
		for _, target := range f.Targets {
			of := f.Kind + " " + p.HostOf(target)
			if end, struck := ends[of]; struck && time.Duration(f.At) < end {
				return invalid(fmt.Sprintf("faults[%d].at", i), f.At, "at least %v, when the %s before it is healed", end, of)
			}
			ends[of] = f.Ends()
		}
	}
	return nil
}

func allOf(field string, values, allowed []string) error {
	for _, v := range values {
		if !slices.Contains(allowed, v) {
			return invalid(field, v, "one of %q", allowed)
		}
	}
	return nil
}

func invalid(field string, value any, bound string, args ...any) error {
	return &tenure.InvalidError{Field: field, Value: fmt.Sprint(value), Bound: fmt.Sprintf(bound, args...)}
}
