package fleet_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/fleet"
	"example.com/tenure/jepsen-lite/plan"
)

func options(replicas int, kinds ...string) fleet.Options {
	return fleet.Options{
		Replicas: replicas, Keys: []string{"a", "b"}, TTL: time.Second, Safety: 30 * time.Second, Available: 5 * time.Second,
		Kinds: kinds, Owners: true, Lists: true,
	}
}

// Every seed gives a plan that can be carried out, the same each time, and all
// kinds of faults come up.
func TestDraw(t *testing.T) {
	seen := make(map[string]int)
	for seed := uint64(1); seed <= 300; seed++ {
		replicas := 2 + int(seed%5)
		p := fleet.Draw(seed, options(replicas, fleet.Kinds()...))
		if err := p.Validate(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !reflect.DeepEqual(p, fleet.Draw(seed, options(replicas, fleet.Kinds()...))) {
			t.Fatalf("seed %d gives another plan the second time", seed)
		}
		if len(p.Faults) == 0 {
			t.Errorf("seed %d has no faults", seed)
		}
		for _, f := range p.Faults {
			seen[f.Kind]++
			if len(f.Targets) == replicas && (f.Kind == plan.Kill || f.Kind == plan.Pause) {
				seen["all at once"]++
			}
			if f.Targets[0] == fleet.Owner {
				seen[fleet.Owner]++
			}
		}
	}
	for _, kind := range append(fleet.Kinds(), "all at once", fleet.Owner) {
		if seen[kind] < 50 {
			t.Errorf("%d times %s in 300 seeds", seen[kind], kind)
		}
	}
}

// A plan in which owners stay away calls for others to follow them.
func TestCallsForSuccessions(t *testing.T) {
	calls := 0
	for seed := uint64(1); seed <= 50; seed++ {
		calls += fleet.Draw(seed, options(3, plan.Kill, plan.Pause)).Coverage[check.Successions]
	}
	if calls < 10 {
		t.Errorf("%d of 50 plans of kills and pauses call for another owner", calls)
	}
}

// What the fleet can't take is not drawn; one that can take nothing has a run
// without faults.
func TestDrawOnlyWhatItCan(t *testing.T) {
	for seed := uint64(1); seed <= 50; seed++ {
		for _, f := range fleet.Draw(seed, options(3, plan.Pause)).Faults {
			if f.Kind != plan.Pause {
				t.Errorf("seed %d has a %s", seed, f.Kind)
			}
		}
		if p := fleet.Draw(seed, options(1)); len(p.Faults) > 0 || p.Validate() != nil {
			t.Errorf("seed %d has faults: %v", seed, p.Faults)
		}
	}
}

func TestPlanFile(t *testing.T) {
	p := fleet.Draw(4, options(3, fleet.Kinds()...))
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := p.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if again, err := fleet.ReadFile(path); err != nil || !reflect.DeepEqual(p, again) {
		t.Errorf("%v: %+v, want %+v", err, again, p)
	}
}

func TestInvalidPlans(t *testing.T) {
	at := plan.Duration(time.Second)
	fault := func(kind string, targets ...string) plan.Fault {
		return plan.Fault{Kind: kind, At: at, For: at, Targets: targets}
	}
	with := func(faults ...plan.Fault) func(*fleet.Plan) { return func(p *fleet.Plan) { p.Faults = faults } }
	half, late, short, fast := 0.5, fault(plan.Kill, "r1"), fault(plan.Kill, "r1"), fault(plan.Reset, "r1>r2")
	late.At, short.For = 30*at, 1
	rated, delayed, narrow := fault(plan.Kill, "r1"), fault(plan.Kill, "r1"), fault(plan.Throttle, "r1>r2")
	rated.Rate, delayed.Delay = &half, at
	for _, c := range []struct {
		name   string
		change func(*fleet.Plan)
		field  string
	}{
		{"version", func(p *fleet.Plan) { p.Version = 2 }, "version"},
		{"arena", func(p *fleet.Plan) { p.Arena = plan.Virtual }, "arena"},
		{"no replica", func(p *fleet.Plan) { p.Replicas = 0 }, "replicas"},
		{"no key", func(p *fleet.Plan) { p.Keys = nil }, "keys"},
		{"an empty key", func(p *fleet.Plan) { p.Keys = []string{"a", ""} }, "keys"},
		{"ttl", func(p *fleet.Plan) { p.TTL = 0 }, "ttl"},
		{"safety", func(p *fleet.Plan) { p.Safety = 1 }, "safety"},
		{"available", func(p *fleet.Plan) { p.Available = 0 }, "available"},
		{"kind", func(p *fleet.Plan) { p.Kinds = []string{plan.Clock} }, "kinds"},
		{"another kind", with(fault(plan.DiskFail, "r1")), "faults[0].kind"},
		{"never healed", with(late), "faults[0].at"},
		{"too short", with(short), "faults[0].for"},
		{"an instant that lasts", with(fast), "faults[0].for"},
		{"no target", with(fault(plan.Kill)), "faults[0].targets"},
		{"no such replica", with(fault(plan.Kill, "r4")), "faults[0].targets"},
		{"an owner as a link", with(fault(plan.Partition, fleet.Owner+">r2")), "faults[0].targets"},
		{"a replica as a link", with(fault(plan.Partition, "r1")), "faults[0].targets"},
		{"a link to itself", with(fault(plan.Partition, "r1>r1")), "faults[0].targets"},
		{"a rate", with(rated), "faults[0].rate"},
		{"a delay", with(delayed), "faults[0].delay"},
		{"no bytes", with(narrow), "faults[0].bytes"},
		{"paused and killed", with(fault(plan.Pause, "r1"), fault(plan.Kill, "r1")), "faults[1].at"},
		{"cut twice", with(fault(plan.Partition, "r1>r2"), fault(plan.Partition, "r1>r2")), "faults[1].at"},
	} {
		p := fleet.Draw(1, options(3, fleet.Kinds()...))
		p.Kinds = fleet.Kinds()
		c.change(p)
		var bad *tenure.InvalidError
		if err := p.Validate(); !errors.As(err, &bad) || bad.Field != c.field || bad.Bound == "" {
			t.Errorf("%s: %v, want field %s", c.name, err, c.field)
		}
	}
}

func FuzzParse(f *testing.F) {
	b, _ := json.Marshal(fleet.Draw(2, options(2, fleet.Kinds()...)))
	f.Add(b)
	f.Add([]byte(strings.Replace(string(b), `"at"`, `"when"`, 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := fleet.Parse(text)
		if err != nil {
			return
		}
		if err := p.Validate(); err != nil {
			t.Errorf("a plan that was parsed is not valid: %v", err)
		}
	})
}
