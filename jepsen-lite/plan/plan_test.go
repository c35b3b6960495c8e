package plan_test

import (
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/plan"
)

// Every seed draws a valid plan, the same one each time, and it survives being
// written down. All kinds that an arena can do are drawn, and no others.
func TestDrawn(t *testing.T) {
	for _, arena := range plan.Arenas() {
		existed := make(map[string]int)
		timed, faults := 0, 0
		for seed := range uint64(300) {
			p := plan.Draw(seed, plan.Options{Arena: arena})
			if err := p.Validate(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if again := plan.Draw(seed, plan.Options{Arena: arena}); !reflect.DeepEqual(p, again) {
				t.Fatalf("seed %d draws two plans", seed)
			}
			b, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			read, err := plan.Parse(b)
			if err != nil || !reflect.DeepEqual(p, read) {
				t.Fatalf("seed %d: written and read it differs: %v", seed, err)
			}
			for _, f := range p.Faults {
				existed[f.Kind]++
			}
			if p.Timed() {
				timed++
			}
			if n := len(p.Faults); n >= 10 && n <= 40 {
				faults++
			}
		}
		for _, kind := range plan.KindsOf(arena) {
			if existed[kind] == 0 {
				t.Errorf("%s: no seed draws a %s", arena, kind)
			}
		}
		if timed == 0 || arena == plan.Virtual && timed == 300 {
			t.Errorf("%s: %d of 300 plans keep clocks within the margin", arena, timed)
		}
		if faults < 250 {
			t.Errorf("%s: %d of 300 minutes have 10 to 40 faults", arena, faults)
		}
	}
}

// A plan of a minute calls for the whole table, with faults that fill it; one
// whose kinds were given only for what those can bring about.
func TestCoverage(t *testing.T) {
	called := func(o plan.Options) map[int]bool {
		numbers := make(map[int]bool)
		for seed := range uint64(100) {
			p := plan.Draw(seed, o)
			if err := p.Validate(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			numbers[len(p.Coverage)] = true
		}
		return numbers
	}
	whole := len(check.Rows) - 2 // but for what only fleets have
	for _, c := range []struct {
		name string
		o    plan.Options
		want map[int]bool
	}{
		{"a minute", plan.Options{}, map[int]bool{whole: true}},
		{"five", plan.Options{Safety: 5 * time.Minute}, map[int]bool{whole: true}},
		{"short", plan.Options{Safety: 59 * time.Second}, map[int]bool{1: true}},
		{"transfers only", plan.Options{Kinds: []string{plan.Transfer}}, map[int]bool{4: true}},
		{"partitions only", plan.Options{Kinds: []string{plan.Partition}}, map[int]bool{7: true}},
		{"no writes", plan.Options{Kinds: []string{plan.PauseGate}, Workload: []string{plan.TTLs}}, map[int]bool{0: true}},
	} {
		if got := called(c.o); !maps.Equal(got, c.want) {
			t.Errorf("%s: rows that are called for: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.json")
	p := plan.Draw(4, plan.Options{Safety: 5 * time.Second})
	if err := p.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	read, err := plan.ReadFile(path)
	if err != nil || !reflect.DeepEqual(p, read) {
		t.Fatalf("got %+v, %v", read, err)
	}
	if _, err := plan.ReadFile(path + "x"); err == nil {
		t.Error("read a plan that does not exist")
	}
}

// What no run can be made of is refused, naming field, value and bound.
func TestInvalid(t *testing.T) {
	half := 0.5
	valid := func() *plan.Plan {
		p := plan.Draw(1, plan.Options{Kinds: plan.KindsOf(plan.Virtual)})
		p.Nodes, p.Replicas, p.Embedded, p.Faults = 3, 2, 0, nil
		return p
	}
	at := plan.Duration(time.Second)
	for _, c := range []struct {
		name   string
		change func(p *plan.Plan)
		field  string
	}{
		{"version", func(p *plan.Plan) { p.Version = 2 }, "version"},
		{"no nodes", func(p *plan.Plan) { p.Nodes = 0 }, "nodes"},
		{"more embedded than nodes", func(p *plan.Plan) { p.Replicas, p.Embedded = 5, 4 }, "embedded"},
		{"more embedded than replicas", func(p *plan.Plan) { p.Embedded = 3 }, "embedded"},
		{"embedded in processes", func(p *plan.Plan) { p.Arena, p.Kinds, p.Embedded = plan.Process, nil, 1 }, "embedded"},
		{"too many keys", func(p *plan.Plan) { p.Keys = plan.MaxKeys + 1 }, "keys"},
		{"ttl", func(p *plan.Plan) { p.TTL = 1 }, "ttl"},
		{"margin", func(p *plan.Plan) { p.Margin = p.TTL }, "margin"},
		{"election", func(p *plan.Plan) { p.Election = 0 }, "election"},
		{"safety", func(p *plan.Plan) { p.Safety = 0 }, "safety"},
		{"available", func(p *plan.Plan) { p.Available = p.Liveness + 1 }, "available"},
		{"workload", func(p *plan.Plan) { p.Workload = []string{"bank"} }, "workloads"},
		{"no workload", func(p *plan.Plan) { p.Workload = nil }, "workloads"},
		{"kind", func(p *plan.Plan) { p.Kinds = []string{"fire"} }, "kinds"},
		{"arena", func(p *plan.Plan) { p.Arena = "moon" }, "arena"},
		{"kind of another arena", func(p *plan.Plan) { p.Arena, p.Kinds = plan.Process, []string{plan.ClockJump} }, "kinds"},
		{"fault of no kind", func(p *plan.Plan) { p.Faults = []plan.Fault{{Kind: "fire"}} }, "faults[0].kind"},
		{"fault of another kind", func(p *plan.Plan) {
			p.Kinds = []string{plan.Kill}
			p.Faults = []plan.Fault{{Kind: plan.Transfer, Targets: []string{"n1"}}}
		}, "faults[0].kind"},
		{"too short", func(p *plan.Plan) {
			p.Faults = []plan.Fault{{Kind: plan.Kill, At: at, For: 1, Targets: []string{"n1"}}}
		}, "faults[0].for"},
		{"an instant that lasts", func(p *plan.Plan) {
			p.Faults = []plan.Fault{{Kind: plan.Transfer, At: at, For: at, Targets: []string{"n1"}}}
		}, "faults[0].for"},
		{"never healed", func(p *plan.Plan) {
			p.Faults = []plan.Fault{{Kind: plan.Kill, At: p.Safety, For: at, Targets: []string{"n1"}}}
		}, "faults[0].at"},
		{"out of order", func(p *plan.Plan) {
			f := plan.Fault{Kind: plan.Kill, At: at, For: at, Targets: []string{"n1"}}
			p.Faults = []plan.Fault{f, f}
			p.Faults[1].At = 0
		}, "faults[1].at"},
		{"twice at once", func(p *plan.Plan) {
			f := plan.Fault{Kind: plan.Kill, At: at, For: at, Targets: []string{"n1"}}
			p.Faults = []plan.Fault{f, f}
		}, "faults[1].at"},
		{"no target", func(p *plan.Plan) { p.Faults = []plan.Fault{{Kind: plan.Kill, At: at, For: at}} }, "faults[0].targets"},
		{"no such node", func(p *plan.Plan) {
			p.Faults = []plan.Fault{{Kind: plan.Kill, At: at, For: at, Targets: []string{"n4"}}}
		}, "faults[0].targets"},
		{"a replica as a node", func(p *plan.Plan) {
			p.Faults = []plan.Fault{{Kind: plan.Kill, At: at, For: at, Targets: []string{"r1"}}}
		}, "faults[0].targets"},
		{"half a link", func(p *plan.Plan) {
			p.Faults = []plan.Fault{{Kind: plan.Partition, At: at, For: at, Targets: []string{"n1>"}}}
		}, "faults[0].targets"},
		{"a clock without a rate", func(p *plan.Plan) {
			p.Faults = []plan.Fault{{Kind: plan.Clock, At: at, For: at, Targets: []string{"n1"}}}
		}, "faults[0].rate"},
		{"a rate without a clock", func(p *plan.Plan) {
			p.Faults = []plan.Fault{{Kind: plan.Kill, At: at, For: at, Targets: []string{"n1"}, Rate: &half}}
		}, "faults[0].rate"},
		{"a jump to nowhere", func(p *plan.Plan) {
			p.Faults = []plan.Fault{{Kind: plan.ClockJump, At: at, Targets: []string{"n1"}}}
		}, "faults[0].delay"},
		{"a throttle without bytes", func(p *plan.Plan) {
			p.Faults = []plan.Fault{{Kind: plan.Throttle, At: at, For: at, Targets: []string{"n1>n2"}}}
		}, "faults[0].bytes"},
		{"a kill that is counted", func(p *plan.Plan) {
			p.Faults = []plan.Fault{{Kind: plan.Kill, At: at, For: at, Targets: []string{"n1"}, Counted: true}}
		}, "faults[0].counted"},
		{"a point of nothing that waits", func(p *plan.Plan) {
			p.Faults = []plan.Fault{{Kind: plan.PauseHolder, At: at, For: at, Targets: []string{"r1"}, Point: plan.BeforeAck}}
		}, "faults[0].point"},
		{"no such point", func(p *plan.Plan) {
			p.Faults = []plan.Fault{{Kind: plan.PauseGate, At: at, For: at, Targets: []string{"r1"}, Point: plan.Sealed}}
		}, "faults[0].point"},
		{"a delay of nothing slow", func(p *plan.Plan) {
			p.Faults = []plan.Fault{{Kind: plan.Kill, At: at, For: at, Targets: []string{"n1"}, Delay: at}}
		}, "faults[0].delay"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := valid()
			if err := p.Validate(); err != nil {
				t.Fatalf("before the change: %v", err)
			}
			c.change(p)
			var bad *tenure.InvalidError
			if err := p.Validate(); !errors.As(err, &bad) || bad.Field != c.field || bad.Value == "" || bad.Bound == "" {
				t.Errorf("got %v, want field %s", err, c.field)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	b, _ := json.Marshal(plan.Draw(2, plan.Options{Safety: 4 * time.Second}))
	f.Add(b)
	f.Add([]byte(strings.Replace(string(b), `"at"`, `"when"`, 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := plan.Parse(text)
		if err != nil {
			return
		}
		if err := p.Validate(); err != nil {
			t.Errorf("a plan that was parsed is not valid: %v", err)
		}
	})
}
