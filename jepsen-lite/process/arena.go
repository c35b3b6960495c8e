package process

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/nemesis"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/relay"
	"example.com/tenure/jepsen-lite/workload"
)

// foundingTakes bounds how long the cluster may take to be founded.
const foundingTakes = time.Minute

// idBits is how many bits of an id count within one process.
const idBits = 32

// A Run is what a run is made of.
type Run struct {
	Plan    *plan.Plan
	History *history.Writer
	Terms   *history.Terms // of the history's first line
	DataDir string         // gets a folder for each node, and one that all replicas share
	LogDir  string         // is there; gets a file for each node and replica
	// Progress is told every ten seconds, and at the end of the run.
	Progress func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	Elapsed    time.Duration
	Operations int
	Changes    int // of ownership
	Faults     int
}

// Tells is what the arena writes down.
func Tells() []string {
	return []string{
		history.TellsOps, history.TellsGates, history.TellsData, history.TellsLog, history.TellsWatch, history.TellsSums, history.TellsLeaks,
	}
}

// An arena is a run under way. It implements nemesis.Hosts, and is the journal
// of what is no child.
type arena struct {
	Run
	program string
	start   time.Duration // on the common clock
	net     *relay.Net
	copies  *workload.Registers

	ctx  context.Context // of all that works: it ends early when the run fails
	fail func(error)     // ends the run with its first error; nil is none

	mu        sync.Mutex
	members   map[string]*member // the newest of each host
	runs      map[string]int     // processes of each host so far
	rates     map[string]float64 // of clocks that were set
	processes uint64             // of all hosts
	ids       uint64
	traps     []*trap
	stored    map[entryID]time.Duration // when the first node came to store an entry
	done      Progress                  // so far

	stopReading func() // set by observe
}

// Do carries a plan out, and returns when nothing of it is left but its files.
// The error says why the run could not be carried out, or that ctx ended it;
// what it found is in the history.
func Do(ctx context.Context, r Run) error {
	start, err := now()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	a := &arena{
		Run: r, program: program, start: start, net: relay.New(), copies: workload.NewRegisters(),
		members: make(map[string]*member), runs: make(map[string]int), rates: make(map[string]float64), stored: make(map[entryID]time.Duration),
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	a.ctx, a.fail = ctx, func(err error) {
		if err != nil {
			fail(fmt.Errorf("%v into the run: %w", a.Now().Round(time.Millisecond), err))
		}
	}
	err = a.run()
	if errors.Is(err, errBreach) {
		err = nil // it is in the history
	}
	return errors.Join(err, a.kill())
}

// errBreach ends a run in which a node did what none may: the history says so,
// and there is something to judge.
var errBreach = errors.New("a node did what no node may")

// lost ends the run for a process that ended without being told to.
func (a *arena) lost(m *member, how string) {
	if !m.node {
		a.fail(fmt.Errorf("%s %s", m.name, how))
		return
	}
	a.Record(history.Event{Kind: history.Breach, Node: m.name, Msg: how})
	a.fail(errBreach)
}

// run carries the plan out. What it starts may be left when it fails.
func (a *arena) run() error {
	a.write(history.Event{Kind: history.Run, Terms: a.Terms})
	if err := a.found(); err != nil {
		return err
	}
	observers, err := a.observe()
	if err != nil {
		return err
	}
	a.Record(history.Event{Kind: history.Phase, F: history.PhaseSafety})
	a.fail(a.startAll(plan.ReplicaName, a.Plan.Replicas))
	n := nemesis.Nemesis{Plan: a.Plan, Hosts: a, Net: a.net, Journal: a}
	a.fail(n.Strike(a.ctx))
	a.Record(history.Event{Kind: history.Phase, F: history.PhaseLiveness})
	a.sleep(time.Duration(a.Plan.Liveness))
	a.end(observers)
	return context.Cause(a.ctx)
}

// found starts all nodes and waits until they can serve.
func (a *arena) found() error {
	if err := a.startAll(plan.NodeName, a.Plan.Nodes); err != nil {
		return err
	}
	timeout := time.After(foundingTakes)
	for i := range a.Plan.Nodes {
		name := plan.NodeName(i)
		select {
		case <-a.member(name).ready:
		case <-timeout:
			return fmt.Errorf("found the cluster: %s is not ready after %v, see its log", name, foundingTakes)
		case <-a.ctx.Done():
			return context.Cause(a.ctx)
		}
	}
	return nil
}

// startAll starts n hosts at once.
func (a *arena) startAll(name func(int) string, n int) error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { errs[i] = a.Start(a.ctx, name(i)) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (a *arena) dataDir(name string) string { return filepath.Join(a.DataDir, name) }

// kill ends whatever still runs, without a word.
func (a *arena) kill() error {
	a.mu.Lock()
	members := slices.Collect(maps.Values(a.members))
	a.mu.Unlock()
	var err error
	for _, m := range members {
		err = errors.Join(err, m.kill())
	}
	return errors.Join(err, a.net.Close())
}

// sleep lets time pass, up to the end of the run.
func (a *arena) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return a.ctx.Err() == nil
	case <-a.ctx.Done():
		return false
	}
}

// Now returns how long the run goes on.
func (a *arena) Now() time.Duration {
	t, err := now()
	if err != nil {
		panic(err) // it worked when the run began
	}
	return t - a.start
}

// NextID implements nemesis.Journal.
func (a *arena) NextID() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ids++
	return a.ids
}

// Record implements nemesis.Journal.
func (a *arena) Record(e history.Event) {
	e.T = a.Now()
	a.write(e)
}

// write writes down an event of whatever process. Events come in no order of
// time: whoever reads a history sorts it.
func (a *arena) write(e history.Event) {
	a.mu.Lock()
	switch {
	case e.Kind == history.Invoke:
		a.done.Operations++
	case e.Kind == history.Fault && e.F != Stall:
		a.done.Faults++
	case e.Kind == history.OK && e.F == history.Acquire:
		a.done.Changes++
	}
	a.mu.Unlock()
	a.fail(a.History.Write(e))
}

func (a *arena) progress() {
	if a.Progress == nil {
		return
	}
	a.mu.Lock()
	p := a.done
	a.mu.Unlock()
	p.Elapsed = a.Now()
	a.Progress(p)
}
