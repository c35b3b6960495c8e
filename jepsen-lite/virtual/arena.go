package virtual

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/workload"
)

const (
	// foundingTakes bounds how long the cluster may take to be founded.
	foundingTakes = 30 * time.Second
	// agreeing is how long nodes get to apply the same when nobody asks
	// anything any more.
	agreeing = time.Second
)

// A Run is what a run is made of.
type Run struct {
	Plan    *plan.Plan
	History *history.Writer
	Terms   *history.Terms // of the history's first line
	Folder  string         // where files go that outlive processes; they are removed at the end. "" is that of temporary files
	// Log returns where a node or a replica logs; nil is nowhere.
	Log func(name string) hclog.Logger
	// Progress is told every ten seconds of the run's time, and at its end.
	Progress func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	Elapsed    time.Duration // of the run's time
	Operations int
	Changes    int // of ownership
	Faults     int
}

// Do runs a plan in a bubble of its own. The error says why the run could not
// be carried out; what it found is in the history.
func Do(t *testing.T, r Run) (err error) {
	defer func() {
		// The bubble panics if anything in it is left behind. The history
		// says so already, with what it is.
		if p := recover(); p != nil && !strings.Contains(fmt.Sprint(p), "blocked goroutines remain") {
			panic(p)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		err = newArena(r).run()
	})
	return err
}

// An arena is a run under way.
type arena struct {
	Run
	plan   *plan.Plan
	start  time.Time
	net    *Net
	ctx    context.Context // of all that works: cancelled at the end
	stop   context.CancelFunc
	folder string // of files that outlive processes; "" if no workload has any
	addrs  []string

	copies *workload.Registers
	nodes  map[string]*server

	mu        sync.Mutex
	err       error // the first one
	breached  bool  // a node did what none may
	ids       uint64
	done      Progress // so far
	rng       *rand.Rand
	rates     map[string]float64 // of clocks that a fault changed
	clocks    map[string]*Clock  // of the newest process on each host
	processes map[string]*process
	down      map[string]int // faults that keep a replica from being started
	replicas  atomic.Bool    // are at work: one that embeds a node starts with it
	traps     []*trap        // that wait
	changing  chan struct{}  // held by who changes the cluster's members
	left      sync.WaitGroup // what is left of crashed nodes
}

func newArena(r Run) *arena {
	a := &arena{
		Run: r, plan: r.Plan, start: time.Now(), net: NewNet(r.Plan.Seed),
		copies: workload.NewRegisters(), nodes: make(map[string]*server),
		rng: rand.New(rand.NewPCG(r.Plan.Seed, 2)), rates: make(map[string]float64), clocks: make(map[string]*Clock), down: make(map[string]int), processes: make(map[string]*process),
	}
	a.changing = make(chan struct{}, 1)
	a.ctx, a.stop = context.WithCancel(context.Background())
	return a
}

func (a *arena) run() error {
	if a.plan.Works(plan.Ledger) {
		folder, err := os.MkdirTemp(a.Folder, "ledgers-")
		if err != nil {
			return fmt.Errorf("make a folder for the ledgers: %w", err)
		}
		defer os.RemoveAll(folder) // of temporary files
		a.folder = folder
	}
	a.record(history.Event{Kind: history.Run, Terms: a.Terms})
	if err := a.found(); err != nil {
		a.stop()
		a.closeNodes()
		return err
	}
	a.record(history.Event{Kind: history.Phase, F: history.PhaseSafety})
	begun := a.now()
	var observers sync.WaitGroup
	a.observe(&observers)
	a.replicas.Store(true)
	for i := range a.plan.Replicas {
		a.begin(plan.ReplicaName(i))
	}
	a.strike(begun)
	a.record(history.Event{Kind: history.Phase, F: history.PhaseLiveness})
	a.sleep(time.Duration(a.plan.Liveness))
	a.end(&observers)
	return a.failed()
}

// end closes everything and writes down what is known only then.
func (a *arena) end(observers *sync.WaitGroup) {
	a.mu.Lock()
	processes := a.processes
	a.processes = make(map[string]*process)
	a.mu.Unlock()
	a.stop()
	var closing sync.WaitGroup
	for _, p := range processes {
		closing.Go(p.close)
	}
	closing.Wait()
	observers.Wait()
	time.Sleep(agreeing)
	a.sums()
	commits := a.commits()
	waiters := a.waiters()
	a.closeNodes()
	a.left.Wait()
	a.writeLog(commits)
	a.progress()
	a.leaks(waiters)
	a.record(history.Event{Kind: history.End})
}

// now returns how long the run goes on.
func (a *arena) now() time.Duration { return time.Since(a.start) }

// sleep lets time pass, up to the end of the run.
func (a *arena) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return a.ctx.Err() == nil
	case <-a.ctx.Done():
		return false
	}
}

// record writes an event. One without an instant has the present one.
func (a *arena) record(e history.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.T == 0 && e.Kind != history.Run {
		e.T = a.now()
	}
	switch {
	case e.Kind == history.Invoke:
		a.done.Operations++
	case e.Kind == history.Fault:
		a.done.Faults++
	case e.Kind == history.OK && e.F == history.Acquire:
		a.done.Changes++
	}
	if err := a.History.Write(e); err != nil && a.err == nil {
		a.err = err
	}
}

func (a *arena) note(text string) { a.record(history.Event{Kind: history.Note, Msg: text}) }

// fail says that the run can't be what it was to be.
func (a *arena) fail(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil && !a.breached {
		a.err = fmt.Errorf("%v into the run: "+format, append([]any{a.now()}, args...)...)
	}
}

// breach says that a node did what none may. What comes of that is no error of
// the run's.
func (a *arena) breach(node, format string, args ...any) {
	a.record(history.Event{Kind: history.Breach, Node: node, Msg: fmt.Sprintf(format, args...)})
	a.mu.Lock()
	defer a.mu.Unlock()
	a.breached = true
}

func (a *arena) failed() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

func (a *arena) nextID() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ids++
	return a.ids
}

func (a *arena) progress() {
	if a.Progress == nil {
		return
	}
	a.mu.Lock()
	p := a.done
	p.Elapsed = a.now()
	a.mu.Unlock()
	a.Progress(p)
}

func (a *arena) logger(name string) hclog.Logger {
	if a.Log == nil {
		return nil
	}
	return a.Log(name)
}

// begin starts a replica's next incarnation and its work.
func (a *arena) begin(name string) {
	p, err := a.startProcess(name)
	if err != nil {
		a.fail("%w", err)
		return
	}
	a.mu.Lock()
	a.processes[name] = p
	a.mu.Unlock()
}

func (a *arena) process(name string) *process {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.processes[name]
}
