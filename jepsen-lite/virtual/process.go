package virtual

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/node"
)

// A process is one incarnation of a replica: a holder over a client of the
// cluster, on a host and a clock of its own. It can be paused, as SIGSTOP
// does, and die.
type process struct {
	arena  *arena
	name   string
	host   *Host
	clock  *Clock
	client *node.Client
	holder *holder.Holder

	ctx    context.Context // of its work
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond
	paused  int // faults that pause it
	dead    bool
}

func (a *arena) startProcess(name string) (*process, error) {
	p := &process{arena: a, name: name, host: a.net.Host(name), clock: a.newClock(name)}
	p.changed = sync.NewCond(&p.mu)
	p.ctx, p.cancel = context.WithCancel(a.ctx)
	clock := pausable{p}
	client, err := node.Dial(node.ClientConfig{Addrs: a.addrs, Network: p.host, Clock: clock, Logger: a.logger(name)})
	if err != nil {
		return nil, err
	}
	p.client = client
	p.holder, err = holder.New(holder.Config{
		Store: &store{process: p}, Replica: name, TTL: time.Duration(a.plan.TTL), Margin: time.Duration(a.plan.Margin),
		Clock: clock, Logger: a.logger(name),
	})
	if err != nil {
		return nil, fmt.Errorf("start replica %s: %w", name, err)
	}
	return p, nil
}

// pass blocks while the process is paused, and reports whether it lives.
func (p *process) pass() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.paused > 0 && !p.dead {
		p.changed.Wait()
	}
	return !p.dead
}

// sleep lets time pass for the process, and reports whether it lives and still
// has work.
func (p *process) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
	case <-p.ctx.Done():
	}
	return p.pass() && p.ctx.Err() == nil
}

// pause stops the process, once more; resume takes one pause back.
func (p *process) pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused++
}

func (p *process) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused--
	p.changed.Broadcast()
}

// die ends the process without a word to anybody, and waits until nothing of
// it is left.
func (p *process) die() {
	p.mu.Lock()
	p.dead = true
	p.changed.Broadcast()
	p.mu.Unlock()
	p.host.Die()
	p.close()
}

// close ends the process. One that lives releases all that it holds.
func (p *process) close() {
	p.cancel()
	p.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Duration(p.arena.plan.TTL))
	defer cancel()
	if err := p.holder.Close(ctx); err != nil {
		p.arena.note(p.name + ": " + err.Error())
	}
	_ = p.client.Close() // it has nothing to say
}

// record writes an event of the process.
func (p *process) record(e history.Event) {
	e.Client = p.name
	p.arena.record(e)
}

// A pausable is the clock of a process: it goes on while the process is
// paused, but the process does not notice.
type pausable struct{ process *process }

// Now implements tenure.Clock.
func (c pausable) Now() time.Duration { return c.process.clock.Now() }

// AfterFunc implements tenure.Clock.
func (c pausable) AfterFunc(d time.Duration, f func()) tenure.Timer {
	return c.process.clock.AfterFunc(d, func() {
		c.process.pass()
		f()
	})
}
