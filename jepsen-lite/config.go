package jepsenlite

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/fleet"
	"example.com/tenure/jepsen-lite/plan"
)

// What the environment says counts more than the [Config], so that CI and a
// person can change a run without an edit.
const (
	EnvSeed     = "JEPSENLITE_SEED"     // Config.Seed
	EnvDuration = "JEPSENLITE_DURATION" // Config.Duration, such as 5m
	EnvDir      = "JEPSENLITE_DIR"      // Config.Dir
	EnvPlan     = "JEPSENLITE_PLAN"     // the plan.json of an earlier run, which is carried out again
)

// A Config says which fleet [Run] tests, and how. Only Fleet and TTL have to be
// given.
type Config struct {
	Fleet    Fleet
	Replicas int      // 1 to 9, default 3; they are named r1, r2, ...
	Ports    int      // at which each replica listens: 1 to 9, default 1
	Keys     []string // that are written to, default k1 to k4

	// TTL is that of the fleet's leases: how long faults have to stand to
	// matter goes by it.
	TTL time.Duration
	// Duration is how long faults come and go, default 30 s. Starting the fleet
	// and its recovery come on top.
	Duration time.Duration
	// Available is how soon after the last fault every key has to take a write
	// again, default three TTLs and 10 s.
	Available time.Duration
	// Start is how long the fleet may take until every key takes a write for
	// the first time, and a replica until it listens again, default a minute.
	Start time.Duration
	// Timeout is that of one request, default four TTLs, and 2 s to 30 s: a
	// client waits for what an owner acknowledges that stood still until its
	// lease was over.
	Timeout time.Duration
	// Rate is how many requests are made a second, default 100.
	Rate int

	// Faults are the kinds that may strike, of [FleetFaults]; default all. Each
	// seed draws which of them exist in its run.
	Faults []string
	// Seed is what everything is drawn from; 0 draws a new one.
	Seed uint64

	// Dir is where the run's folder is made and kept. By default it is a new
	// temporary one, kept only if the test fails.
	Dir string
	// UnknownPasses says that a run whose verdict is unknown does not fail the
	// test.
	UnknownPasses bool
}

// fill fills in the defaults, and reports what can't be.
func (c Config) fill() (Config, error) {
	c.Replicas, c.Ports, c.Rate = orElse(c.Replicas, 3), orElse(c.Ports, 1), orElse(c.Rate, 100)
	if c.Keys == nil {
		c.Keys = []string{"k1", "k2", "k3", "k4"}
	}
	if c.Faults == nil {
		c.Faults = FleetFaults()
	}
	c.Duration, c.Start = orElse(c.Duration, 30*time.Second), orElse(c.Start, time.Minute)
	c.Available = orElse(c.Available, 3*c.TTL+10*time.Second)
	c.Timeout = orElse(c.Timeout, min(max(4*c.TTL, 2*time.Second), 30*time.Second))
	c.Seed = orElse(c.Seed, anySeed())
	return c, c.validate()
}

// environment takes what the environment says of a run whose plan is drawn.
func (c *Config) environment() (err error) {
	if text := os.Getenv(EnvSeed); text != "" {
		if c.Seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return invalid(EnvSeed, text, "a whole number")
		}
	}
	if text := os.Getenv(EnvDuration); text != "" {
		if c.Duration, err = time.ParseDuration(text); err != nil {
			return invalid(EnvDuration, text, "a duration such as 5m")
		}
	}
	return nil
}

// validate checks what no plan has; the rest is checked with the plan.
func (c *Config) validate() error {
	switch {
	case c.Fleet == nil:
		return invalid("Fleet", "nil", "given")
	case c.Ports < 1 || c.Ports > 9:
		return invalid("Ports", c.Ports, "from 1 to 9")
	case c.Rate < 1 || c.Rate > 100_000:
		return invalid("Rate", c.Rate, "from 1 to 100000")
	case c.Timeout < time.Millisecond:
		return invalid("Timeout", c.Timeout, "at least 1ms")
	case c.Start < time.Second:
		return invalid("Start", c.Start, "at least 1s")
	}
	for _, kind := range c.Faults {
		if !slices.Contains(FleetFaults(), kind) {
			return invalid("Faults", kind, "of %q", FleetFaults())
		}
	}
	return (&fleet.Plan{
		Version: fleet.Version, Arena: fleet.Name, Replicas: c.Replicas, Keys: c.Keys, TTL: plan.Duration(c.TTL),
		Safety: plan.Duration(c.Duration), Available: plan.Duration(c.Available),
	}).Validate()
}

func invalid(field string, value any, bound string, args ...any) error {
	return &tenure.InvalidError{Field: field, Value: fmt.Sprint(value), Bound: fmt.Sprintf(bound, args...)}
}

func orElse[V comparable](value, other V) V {
	var zero V
	if value == zero {
		return other
	}
	return value
}
