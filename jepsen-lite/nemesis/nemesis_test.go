package nemesis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/nemesis"
	"example.com/tenure/jepsen-lite/plan"
)

func fault(kind string, at, lasts time.Duration, targets ...string) plan.Fault {
	return plan.Fault{Kind: kind, At: plan.Duration(at), For: plan.Duration(lasts), Targets: targets}
}

// What is done to hosts by faults that overlap.
func TestProcesses(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		faults []plan.Fault
		want   []string
	}{
		"one after the other": {
			[]plan.Fault{fault(plan.Kill, s, s, "n1"), fault(plan.Pause, 3*s, s, "n1")},
			[]string{"kill n1 1s", "start n1 2s", "pause n1 3s", "resume n1 4s"},
		},
		"the leader is another name of a node": {
			[]plan.Fault{fault(plan.Kill, s, 3*s, "n1"), fault(plan.Kill, 2*s, 3*s, plan.Leader)},
			[]string{"kill n1 1s", "start n1 5s"},
		},
		"paused twice": {
			[]plan.Fault{fault(plan.Pause, s, 2*s, "n1"), fault(plan.Pause, 2*s, 3*s, plan.Leader)},
			[]string{"pause n1 1s", "resume n1 5s"},
		},
		"killed while it is paused": {
			[]plan.Fault{fault(plan.PauseHolder, s, 4*s, "r1"), fault(plan.KillHolder, 2*s, s, "r1")},
			[]string{"pause r1 1s", "kill r1 2s", "start r1 3s"},
		},
		"paused while it is down": {
			[]plan.Fault{fault(plan.KillHolder, s, 3*s, "r1"), fault(plan.PauseHolder, 2*s, 4*s, "r1")},
			[]string{"kill r1 1s", "start r1 4s"},
		},
		"paused anew after a kill": {
			[]plan.Fault{fault(plan.PauseHolder, s, 5*s, "r1"), fault(plan.KillHolder, 2*s, s, "r1"), fault(plan.PauseHolder, 4*s, s, "r1")},
			[]string{"pause r1 1s", "kill r1 2s", "start r1 3s", "pause r1 4s", "resume r1 5s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			strike(t, newFake, c.faults, func(t *testing.T, f *fake, err error) {
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(f.log, c.want) {
					t.Errorf("got %q, want %q", f.log, c.want)
				}
				if took := time.Since(f.begun); took != 10*s {
					t.Errorf("it took %v", took)
				}
				healed := 0
				for _, e := range f.events {
					if e.Kind == history.Heal {
						healed++
					}
				}
				if healed != len(c.faults) || len(f.events) != 2*len(c.faults) {
					t.Errorf("%d faults were healed, in %d events", healed, len(f.events))
				}
			})
		})
	}
}

// A fault that is not there when it was taken, or still there when it was
// healed, is an error of the run that says what is wrong.
func TestProbesFail(t *testing.T) {
	for broken, want := range map[string]string{
		"kill": "running where it must be gone", "start": "gone where it must be running",
		"pause": "running where it must be stopped", "resume": "stopped where it must be running",
	} {
		t.Run(broken, func(t *testing.T) {
			kind := plan.Kill
			if broken == "pause" || broken == "resume" {
				kind = plan.Pause
			}
			lies := func() *fake { f := newFake(); f.broken = broken; return f }
			faults := []plan.Fault{fault(kind, time.Second, time.Second, "n2"), fault(kind, 9*time.Second, time.Second, "n3")}
			strike(t, lies, faults, func(t *testing.T, f *fake, err error) {
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), kind) {
					t.Errorf("got %v, want %q of a %s", err, want, kind)
				}
			})
		})
	}
}

// A host that does not start in time is an error, and not the end of the run.
func TestDoesNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		n := nemesis.Nemesis{
			Plan:  &plan.Plan{Safety: plan.Duration(10 * time.Second), Faults: []plan.Fault{fault(plan.Kill, time.Second, time.Second, "n1")}},
			Hosts: sleepy{f}, Journal: f,
		}
		if err := n.Strike(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(f.begun) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(f.begun))
		}
	})
}

type sleepy struct{ *fake }

func (sleepy) Start(context.Context, string) error { return context.DeadlineExceeded }

// What can't be done to these hosts is an error, too.
func TestUnable(t *testing.T) {
	rate := 0.5
	clock := fault(plan.Clock, 0, time.Second, "n1")
	clock.Rate = &rate
	for _, f := range []plan.Fault{
		fault(plan.Partition, 0, time.Second, "n1>n2"), fault("fire", 0, time.Second, "n1"), clock,
	} {
		strike(t, newFake, []plan.Fault{f}, func(t *testing.T, _ *fake, err error) {
			if err == nil || !strings.Contains(err.Error(), f.Kind) {
				t.Errorf("%s: %v", f.Kind, err)
			}
		})
	}
}

// A fault with a point strikes when its target comes there, and is healed by
// the end of the phase; one whose target never comes is none.
func TestTraps(t *testing.T) {
	trapped := func() *fake {
		f := newFake()
		f.points = map[string]time.Duration{plan.AfterWrite: time.Second, plan.Copied: 8 * time.Second}
		return f
	}
	gate, successor := fault(plan.PauseGate, time.Second, time.Second, "r1"), fault(plan.KillSuccessor, time.Second, 5*time.Second, "r2")
	vain := fault(plan.PauseGate, 2*time.Second, time.Second, "r1")
	gate.Point, successor.Point, vain.Point = plan.AfterWrite, plan.Copied, plan.BeforeAck
	strike(t, trapped, []plan.Fault{gate, successor, vain}, func(t *testing.T, f *fake, err error) {
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"stop at after-write r1 2s", "pause r1 2s", "resume r1 3s", "stop at copied r2 9s", "kill r2 9s", "start r2 10s"}
		if !slices.Equal(f.log, want) || len(f.events) != 4 {
			t.Errorf("got %q with %d events, want %q", f.log, len(f.events), want)
		}
	})
}

// A process that is resumed may walk into a trap before anybody has looked
// whether it goes on.
func TestTrapAfterResume(t *testing.T) {
	gate := fault(plan.PauseGate, 0, 3*time.Second, "r1")
	gate.Point = plan.AfterWrite
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		n := nemesis.Nemesis{
			Plan: &plan.Plan{
				Safety: plan.Duration(10 * time.Second), Faults: []plan.Fault{gate, fault(plan.PauseHolder, time.Second, time.Second, "r1")},
			},
			Hosts: &trapdoor{fake: f, fallen: make(chan struct{})}, Journal: f,
		}
		if err := n.Strike(t.Context()); err != nil {
			t.Fatal(err)
		}
		var done []string
		for _, line := range f.log {
			verb, _, _ := strings.Cut(line, " ")
			done = append(done, verb)
		}
		if want := []string{"pause", "resume", "stop", "pause", "resume"}; !slices.Equal(done, want) {
			t.Errorf("got %q, want %q", f.log, want)
		}
	})
}

// A trapdoor stops a process as soon as it goes on for the first time.
type trapdoor struct {
	*fake
	once   sync.Once
	fallen chan struct{}
}

func (d *trapdoor) Resume(ctx context.Context, host string) error {
	err := d.fake.Resume(ctx, host)
	d.once.Do(func() {
		err = d.set("stop", host, nemesis.Stopped)
		close(d.fallen)
	})
	return err
}

func (d *trapdoor) StopAt(context.Context, string, string) error {
	<-d.fallen
	return nil
}

// A transfer goes to hosts that can, and is noted where it did not succeed.
func TestTransfer(t *testing.T) {
	faults := []plan.Fault{fault(plan.Transfer, time.Second, 0, "n2")}
	strike(t, newFake, faults, func(t *testing.T, f *fake, err error) {
		if err != nil || len(f.events) != 2 {
			t.Errorf("hosts that can't: %d events, %v", len(f.events), err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		n := nemesis.Nemesis{Plan: &plan.Plan{Safety: plan.Duration(10 * time.Second), Faults: faults}, Hosts: transferring{f}, Journal: f}
		if err := n.Strike(t.Context()); err != nil || len(f.events) != 3 || f.events[1].Kind != history.Note {
			t.Errorf("hosts that refuse: %v, %v", f.events, err)
		}
	})
}

type transferring struct{ *fake }

func (transferring) Transfer(context.Context, string) error { return context.DeadlineExceeded }

// A clock is set, and set right again.
func TestClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, rate := newFake(), 0.5
		clock := fault(plan.Clock, time.Second, 2*time.Second, "n1", "r1")
		clock.Rate = &rate
		w := &rated{fake: f}
		n := nemesis.Nemesis{Plan: &plan.Plan{Safety: plan.Duration(10 * time.Second), Faults: []plan.Fault{clock}}, Hosts: w, Journal: f}
		if err := n.Strike(t.Context()); err != nil {
			t.Fatal(err)
		}
		slices.Sort(w.set)
		want := []string{"n1 0.5 at 1s", "n1 1 at 3s", "r1 0.5 at 1s", "r1 1 at 3s"}
		if !slices.Equal(w.set, want) || f.events[0].Rate != rate {
			t.Errorf("got %q and %v, want %q", w.set, f.events, want)
		}
	})
}

type rated struct {
	*fake
	set []string
}

func (w *rated) SetRate(_ context.Context, host string, rate float64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.set = append(w.set, fmt.Sprintf("%s %v at %v", host, rate, time.Since(w.begun)))
	return nil
}

// An end from outside is no error, and nothing waits for a heal.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		n := nemesis.Nemesis{
			Plan:  &plan.Plan{Safety: plan.Duration(time.Hour), Faults: []plan.Fault{fault(plan.Kill, time.Second, 30*time.Minute, "n1")}},
			Hosts: f, Journal: f,
		}
		if err := n.Strike(ctx); err != nil || time.Since(f.begun) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(f.begun))
		}
	})
}
