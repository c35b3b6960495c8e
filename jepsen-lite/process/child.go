package process

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure/jepsen-lite/workload"
)

// childEnv marks a process that the arena started.
const childEnv = "JEPSEN_LITE_CHILD"

// wordsFile is the descriptor on which a child speaks. Its standard output is
// free for what others print.
const wordsFile = 3

// IsChild reports whether an arena started this process. It is then to call
// [Child], and nothing else.
func IsChild() bool { return os.Getenv(childEnv) != "" }

// A participant is a child at its work: what it is told comes in, what it says goes
// out.
type participant struct {
	setup   *setup
	journal *journal
	clock   workload.Clock
	logger  hclog.Logger
	orders  chan order // but for answers, stops and rates
	before  left       // what there is anyway

	mu       sync.Mutex
	stops    []workload.Point                // where it stops itself
	asked    uint64                          // commands so far
	answered map[uint64]chan workload.Answer // those that wait
}

// Child is a node or a replica, as the arena says, until the arena ends it. It
// returns the exit code.
func Child() int {
	p := &participant{orders: make(chan order, 16), answered: make(map[uint64]chan workload.Answer)}
	first, ready := make(chan *setup, 1), make(chan struct{})
	go p.obey(first, ready)
	p.setup = <-first
	p.journal = &journal{speaker: &speaker{out: os.NewFile(wordsFile, "words")}, start: p.setup.Start}
	p.journal.ids.Store(p.setup.IDs)
	p.logger = hclog.New(&hclog.LoggerOptions{Name: p.setup.Name, Level: hclog.Info, Output: os.Stderr})
	work, clock := p.replica, holderClock
	if p.setup.Dir != "" {
		work, clock = p.node, nodeClock
	}
	p.clock = clock(p.setup)
	close(ready)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go p.watchTurns(ctx)
	p.before = present()
	if err := work(ctx); err != nil {
		p.say(word{Failed: err.Error()})
		return 1
	}
	p.say(word{Left: p.count()})
	return 0
}

// obey takes orders until the arena is gone, with which the process ends.
func (p *participant) obey(first chan<- *setup, ready <-chan struct{}) {
	err := listen(os.Stdin, func(o order) {
		switch {
		case o.Setup != nil:
			first <- o.Setup
			<-ready
		case o.Answer != nil:
			p.mu.Lock()
			asked := p.answered[o.Answer.ID]
			delete(p.answered, o.Answer.ID)
			p.mu.Unlock()
			asked <- o.Answer.Answer
		case o.Stops != nil:
			p.mu.Lock()
			p.stops = o.Stops.Points
			p.mu.Unlock()
		case o.Rate != nil:
			go p.setRate(o.Rate)
		default:
			p.orders <- o
		}
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
	}
	os.Exit(1)
}

func (p *participant) say(w word) { _ = p.journal.say(w) } // the process ends with the arena

// Do implements workload.Copies: the arena keeps them.
func (p *participant) Do(c workload.Command) (workload.Answer, error) {
	answered := make(chan workload.Answer, 1)
	p.mu.Lock()
	p.asked++
	id := p.asked
	p.answered[id] = answered
	p.mu.Unlock()
	p.say(word{Command: &command{ID: id, Command: c}})
	return <-answered, nil
}

// pass stops the process at a point where it was told to, once.
func (p *participant) pass(at workload.Point) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.stops, at)
	if i < 0 {
		return true
	}
	p.stops = slices.Delete(p.stops, i, i+1)
	p.say(word{StopsAt: at})
	if err := stopMyself(); err != nil {
		p.say(word{Failed: fmt.Sprintf("stop at %s: %v", at, err)})
	}
	p.say(word{GoesOn: true})
	return true
}

// present counts what there is now.
func present() left { return left{Goroutines: runtime.NumGoroutine(), Descriptors: descriptors()} }

// lingering is how long goroutines that are about to end may take for that.
const lingering = 5 * time.Second

// count counts what there is more than before.
func (p *participant) count() *left {
	var l left
	for begun := time.Now(); time.Since(begun) < lingering; time.Sleep(10 * time.Millisecond) {
		l = present()
		l.Goroutines, l.Descriptors = max(0, l.Goroutines-p.before.Goroutines), max(0, l.Descriptors-p.before.Descriptors)
		if l.Goroutines == 0 && l.Descriptors == 0 {
			return &l
		}
	}
	buf := make([]byte, 1<<16)
	l.Stacks = string(buf[:runtime.Stack(buf, true)])
	return &l
}
