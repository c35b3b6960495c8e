package nemesis_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/nemesis"
	"example.com/tenure/jepsen-lite/plan"
)

// A fake is hosts that are states in memory, and the journal of a run with
// them. What is in broken does nothing and says that all is well.
type fake struct {
	begun  time.Time
	leader string
	broken string // "kill", "start", "pause" or "resume"
	points map[string]time.Duration

	mu     sync.Mutex
	states map[string]nemesis.State
	log    []string // what was done when
	events []history.Event
	ids    uint64
}

func newFake() *fake {
	return &fake{begun: time.Now(), leader: "n1", states: map[string]nemesis.State{
		"n1": nemesis.Running, "n2": nemesis.Running, "n3": nemesis.Running, "r1": nemesis.Running, "r2": nemesis.Running,
	}}
}

func (f *fake) set(verb, host string, s nemesis.State) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, fmt.Sprintf("%s %s %v", verb, host, time.Since(f.begun)))
	if f.broken != verb {
		f.states[host] = s
	}
	return nil
}

func (f *fake) Start(_ context.Context, host string) error {
	return f.set("start", host, nemesis.Running)
}
func (f *fake) Kill(_ context.Context, host string) error { return f.set("kill", host, nemesis.Gone) }
func (f *fake) Pause(_ context.Context, host string) error {
	return f.set("pause", host, nemesis.Stopped)
}
func (f *fake) Resume(_ context.Context, host string) error {
	return f.set("resume", host, nemesis.Running)
}

func (f *fake) State(host string) (nemesis.State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.states[host], nil
}

func (f *fake) Leader() string { return f.leader }

func (f *fake) StopAt(ctx context.Context, host, point string) error {
	at, comes := f.points[point]
	if !comes {
		at = time.Hour
	}
	select {
	case <-time.After(at):
		return f.set("stop at "+point, host, nemesis.Stopped)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fake) Record(e history.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e.T = time.Since(f.begun)
	f.events = append(f.events, e)
}

func (f *fake) NextID() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids++
	return f.ids
}

// strike carries out faults within ten seconds, in virtual time.
func strike(t *testing.T, f func() *fake, faults []plan.Fault, then func(t *testing.T, f *fake, err error)) {
	synctest.Test(t, func(t *testing.T) {
		f := f()
		n := nemesis.Nemesis{
			Plan: &plan.Plan{Safety: plan.Duration(10 * time.Second), Faults: faults}, Hosts: f, Journal: f,
		}
		then(t, f, n.Strike(t.Context()))
	})
}
