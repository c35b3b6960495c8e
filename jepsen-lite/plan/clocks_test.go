package plan_test

import (
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/plan"
)

// Claim A stands while no holder's gate can be open for longer than a node
// waits, whichever clock is wrong in whichever way.
func TestTimed(t *testing.T) {
	const ms = plan.Duration(time.Millisecond)
	rate := func(host string, rate float64) plan.Fault {
		return plan.Fault{Kind: plan.Clock, Targets: []string{host}, Rate: &rate}
	}
	jump := func(host string, at, by plan.Duration) plan.Fault {
		return plan.Fault{Kind: plan.ClockJump, At: at, Targets: []string{host}, Delay: by}
	}
	suspend := func(host string, long plan.Duration, counted bool) plan.Fault {
		return plan.Fault{Kind: plan.Suspend, For: long, Targets: []string{host}, Counted: counted}
	}
	for _, c := range []struct {
		name   string
		faults []plan.Fault
		want   bool
	}{
		{"no fault", nil, true},
		{"a fast node", []plan.Fault{rate("n1", 1.1)}, true},
		{"a node too fast", []plan.Fault{rate("n1", 1.12)}, false},
		{"a node that stands still", []plan.Fault{rate("n1", 0)}, true},
		{"a slow holder", []plan.Fault{rate("r1", 0.9)}, true},
		{"a holder too slow", []plan.Fault{rate("r1", 0.89)}, false},
		{"a holder that stands still", []plan.Fault{rate("r1", 0)}, false},
		{"a fast holder", []plan.Fault{rate("r1", 3)}, true},
		{"a fast node and a slow holder", []plan.Fault{rate("n1", 1.06), rate("r1", 0.94)}, false},
		{"a node jumps ahead by the margin", []plan.Fault{jump("n1", 0, 100*ms)}, true},
		{"a node jumps further", []plan.Fault{jump("n1", 0, 101*ms)}, false},
		{"a node jumps twice in a TTL", []plan.Fault{jump("n1", 0, 60*ms), jump("n1", 900*ms, 60*ms)}, false},
		{"the leader may be that node", []plan.Fault{jump(plan.Leader, 0, 60*ms), jump("n1", 900*ms, 60*ms)}, false},
		{"two nodes jump", []plan.Fault{jump("n1", 0, 60*ms), jump("n2", 0, 60*ms)}, true},
		{"a node jumps now and then", []plan.Fault{jump("n1", 0, 60*ms), jump("n1", 5000*ms, 60*ms)}, true},
		{"a fast node jumps", []plan.Fault{rate("n1", 1.08), jump("n1", 0, 50*ms)}, false},
		{"a holder jumps ahead", []plan.Fault{jump("r1", 0, 9000*ms)}, true},
		{"a suspended node, counted", []plan.Fault{suspend("n1", 9000*ms, true)}, true},
		{"a suspended node, not counted", []plan.Fault{suspend("n1", 9000*ms, false)}, true},
		{"a suspended holder, counted", []plan.Fault{suspend("r1", 9000*ms, true)}, true},
		{"a suspended holder, not counted", []plan.Fault{suspend("r1", 50*ms, false)}, false},
	} {
		p := plan.Draw(1, plan.Options{Workload: []string{plan.Contended}})
		p.TTL, p.Margin, p.Embedded, p.Faults = 1000*ms, 100*ms, 0, c.faults
		if got := p.Timed(); got != c.want {
			t.Errorf("%s: timed %v, want %v", c.name, got, c.want)
		}
	}
}

// A jump of a node's clock is like a fast one to whoever judges how early a
// tenure may end.
func TestTermsOfJumps(t *testing.T) {
	p := plan.Draw(1, plan.Options{Workload: []string{plan.Contended}})
	p.TTL, p.Faults = plan.Duration(time.Second), nil
	for by, want := range map[time.Duration]float64{0: 1, 100 * time.Millisecond: 1.25, time.Minute: 100} {
		p.Faults = []plan.Fault{{Kind: plan.ClockJump, Targets: []string{"n1"}, Delay: plan.Duration(by)}}
		if got := p.Terms().FastestNode; got != want {
			t.Errorf("a jump by %v: as fast as %v, want %v", by, got, want)
		}
	}
}

// Asked to, a plan keeps every clock within the margin, whatever the faults of
// clocks are.
func TestTimedStaysWithinTheMargin(t *testing.T) {
	kinds := []string{plan.Clock, plan.ClockJump, plan.Suspend}
	drawn := make(map[string]int)
	for seed := range uint64(300) {
		p := plan.Draw(seed, plan.Options{Kinds: kinds, Timed: true})
		if !p.Timed() || len(p.Faults) == 0 {
			t.Fatalf("seed %d: timed %v with %d faults", seed, p.Timed(), len(p.Faults))
		}
		for _, f := range p.Faults {
			drawn[f.Kind]++
		}
	}
	for _, kind := range kinds {
		if drawn[kind] < 300 {
			t.Errorf("%d faults of clocks are a %s", drawn[kind], kind)
		}
	}
}

// A clock that a node and a replica share is against claim A in either way.
func TestTimedWithEmbeddedNodes(t *testing.T) {
	const ms = plan.Duration(time.Millisecond)
	slow, fast := 0.85, 1.15
	for _, c := range []struct {
		name  string
		fault plan.Fault
		want  bool
	}{
		{"a slow node", plan.Fault{Kind: plan.Clock, Targets: []string{"n1"}, Rate: &slow}, false},
		{"a slow node without a replica", plan.Fault{Kind: plan.Clock, Targets: []string{"n2"}, Rate: &slow}, true},
		{"a fast replica", plan.Fault{Kind: plan.Clock, Targets: []string{"r1"}, Rate: &fast}, false},
		{"a fast replica without a node", plan.Fault{Kind: plan.Clock, Targets: []string{"r2"}, Rate: &fast}, true},
		{"a replica jumps", plan.Fault{Kind: plan.ClockJump, Targets: []string{"r1"}, Delay: 101 * ms}, false},
		{"a suspended node", plan.Fault{Kind: plan.Suspend, Targets: []string{"n1"}, For: 50 * ms}, false},
		{"the suspended leader, which may be it", plan.Fault{Kind: plan.Suspend, Targets: []string{plan.Leader}, For: 50 * ms}, false},
	} {
		p := plan.Draw(1, plan.Options{Workload: []string{plan.Contended}})
		p.TTL, p.Margin, p.Embedded, p.Faults = 1000*ms, 100*ms, 1, []plan.Fault{c.fault}
		if got := p.Timed(); got != c.want {
			t.Errorf("%s: timed is %v, want %v", c.name, got, c.want)
		}
	}
}
