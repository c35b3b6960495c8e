package virtual_test

import (
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

// A kill that strikes while a restart is under way or probed is a kill like
// any other: the node comes back when the last of them is over.
func TestKillsThatOverlap(t *testing.T) {
	p := plan.Draw(1, plan.Options{Safety: 15 * time.Second, Kinds: []string{plan.Kill}})
	p.Nodes, p.Faults = 3, nil
	for i := range 12 {
		// Each leader that is killed is a node by its name too, soon after it
		// was started.
		at := 2*time.Second + time.Duration(i)*time.Second
		p.Faults = append(p.Faults, plan.Fault{Kind: plan.Kill, At: plan.Duration(at), For: plan.Duration(700 * time.Millisecond), Targets: []string{plan.Leader}})
		for n := range 3 {
			again := at + 700*time.Millisecond + time.Duration(i*n)*100*time.Microsecond
			p.Faults = append(p.Faults, plan.Fault{Kind: plan.Kill, At: plan.Duration(again), For: plan.Duration(200 * time.Millisecond), Targets: []string{plan.NodeName(n)}})
		}
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	h := carryOut(t, p)
	for _, s := range h.Faults {
		if s.To == history.Never {
			t.Errorf("a kill was not healed: %+v", s)
		}
	}
}

// Faults of all kinds that keep a node from working may overlap on it in any
// way: it comes back when the last of them is over.
func TestFaultsThatOverlap(t *testing.T) {
	kinds := []string{
		plan.Kill, plan.Pause, plan.Suspend, plan.DiskFail, plan.DiskFull, plan.DiskHang, plan.BitFlip, plan.Membership, plan.ClockJump,
	}
	p := plan.Draw(1, plan.Options{Safety: 25 * time.Second, Kinds: kinds, Workload: []string{plan.Contended}})
	p.Nodes, p.Faults = 3, nil
	for i := range 100 {
		kind := kinds[i*7%len(kinds)]
		f := plan.Fault{Kind: kind, At: plan.Duration(2*time.Second + time.Duration(i)*200*time.Millisecond), Targets: []string{plan.NodeName(i / 9 % 3)}}
		if kind == plan.ClockJump {
			f.Delay = plan.Duration(time.Second)
		} else {
			f.For = plan.Duration(time.Duration(200+i%9*170) * time.Millisecond)
		}
		p.Faults = append(p.Faults, f)
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	h := carryOut(t, p)
	for _, s := range h.Faults {
		if s.To == history.Never {
			t.Errorf("a fault was not healed: %+v", s)
		}
	}
}
