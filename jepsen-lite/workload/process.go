package workload

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure"
	"example.com/tenure/holder"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

var errDead = errors.New("the process is dead")

// A Config says what an incarnation of a replica works with. Everything but
// Folder, Pass and Logger is required.
type Config struct {
	Name    string     // of the replica
	Plan    *plan.Plan // keys, TTL, margin, seed and workloads
	Store   tenure.Store
	Clock   Clock
	Journal Journal
	Copies  Copies
	Folder  string // of the ledgers' files, shared by all replicas; only for the workload that writes them

	// Pass is called at every step. It blocks while the process is made to
	// stand still, and reports whether it lives. At is "" but where the work
	// has come to a point. Nil always passes: a process that its system stops and kills
	// need not do anything about it.
	Pass func(at Point) bool

	Logger hclog.Logger
}

// A Process is one incarnation of a replica at its work.
type Process struct {
	cfg    Config
	store  tenure.Store // writes down what goes through it
	holder *holder.Holder

	ctx    context.Context // of its work
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// Start starts a process and the plan's workloads in it. They end with ctx, or
// at Close, which has to be called in any case.
func Start(ctx context.Context, cfg Config) (*Process, error) {
	if cfg.Pass == nil {
		cfg.Pass = func(Point) bool { return true }
	}
	if cfg.Plan.Works(plan.Ledger) && cfg.Folder == "" {
		return nil, fmt.Errorf("start replica %s: the workload %s needs a folder", cfg.Name, plan.Ledger)
	}
	p := &Process{cfg: cfg}
	p.store = &recorder{process: p}
	var err error
	p.holder, err = holder.New(holder.Config{
		Store: p.store, Replica: cfg.Name, TTL: p.ttl(), Margin: time.Duration(cfg.Plan.Margin),
		Clock: cfg.Clock, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("start replica %s: %w", cfg.Name, err)
	}
	p.ctx, p.cancel = context.WithCancel(ctx)
	for _, name := range cfg.Plan.Workload {
		workloads[name](p)
	}
	return p, nil
}

// workloads start what each workload of a plan does in a process.
var workloads = map[string]func(*Process){
	plan.Contended: (*Process).contend,
	plan.Batches:   (*Process).batch,
	plan.TTLs:      (*Process).changeTTLs,
	plan.Ledger:    (*Process).keepLedgers,
}

// Close ends the process. One that lives releases all that it holds, for at
// most two TTLs.
func (p *Process) Close() {
	p.cancel()
	p.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 2*p.ttl())
	defer cancel()
	if err := p.holder.Close(ctx); err != nil {
		p.note("", err)
	}
}

func (p *Process) ttl() time.Duration { return time.Duration(p.cfg.Plan.TTL) }

// pass blocks while the process stands still, and reports whether it lives.
func (p *Process) pass() bool { return p.cfg.Pass("") }

// sleep lets time pass for the process, and reports whether it lives and still
// has work.
func (p *Process) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.ctx.Done():
	}
	return p.pass() && p.ctx.Err() == nil
}

// record writes an event of the process.
func (p *Process) record(e history.Event) {
	e.Client = p.cfg.Name
	p.cfg.Journal.Record(e)
}

func (p *Process) note(key string, err error) {
	p.record(history.Event{Kind: history.Note, Key: key, Msg: p.cfg.Name + ": " + err.Error()})
}

// rng returns the source of one goroutine's chance: the plan's seed, and
// another one for each incarnation and purpose.
func (p *Process) rng(purpose string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(p.holder.Owner() + purpose)) // never fails
	return rand.New(rand.NewPCG(p.cfg.Plan.Seed, h.Sum64()))
}
