package virtual

import (
	"fmt"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/workload"
	"example.com/tenure/node"
)

// A process is one incarnation of a replica: its work, over a client of the
// cluster, on a host and a clock of its own. It can be paused, as SIGSTOP
// does, and die.
type process struct {
	arena  *arena
	name   string
	host   *Host
	clock  *Clock
	client *node.Client
	work   *workload.Process

	mu      sync.Mutex
	changed *sync.Cond
	paused  int // faults that pause it
	dead    bool
}

func (a *arena) startProcess(name string) (*process, error) {
	p := &process{arena: a, name: name, host: a.net.Host(name), clock: a.newClock(name)}
	p.changed = sync.NewCond(&p.mu)
	clock := pausable{p.clock, p}
	client, err := node.Dial(node.ClientConfig{Addrs: a.addrs, Network: p.host, Clock: clock, Logger: a.logger(name)})
	if err != nil {
		return nil, fmt.Errorf("start replica %s: %w", name, err)
	}
	p.client = client
	p.work, err = workload.Start(a.ctx, workload.Config{
		Name: name, Plan: a.plan, Store: client, Clock: clock, Journal: journal{a}, Copies: a.copies,
		Folder: a.folder, Pass: p.pass, Logger: a.logger(name),
	})
	if err != nil {
		_ = client.Close() // it was never used
		return nil, err
	}
	return p, nil
}

// pass blocks while the process is paused, and reports whether it lives.
func (p *process) pass(at workload.Point) bool {
	if at != "" {
		p.arena.spring(p, at)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.paused > 0 && !p.dead {
		p.changed.Wait()
	}
	return !p.dead
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
	p.kill()
	p.host.Die()
	p.close()
}

// kill makes the process do nothing any more.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	p.changed.Broadcast()
}

// close ends the process. One that lives releases all that it holds.
func (p *process) close() {
	p.work.Close()
	_ = p.client.Close() // it has nothing to say
}

// A pausable is the clock of a process: it goes on while the process is
// paused, but the process does not notice.
type pausable struct {
	*Clock
	process *process
}

// AfterFunc implements tenure.Clock.
func (c pausable) AfterFunc(d time.Duration, f func()) tenure.Timer {
	return c.Clock.AfterFunc(d, func() {
		c.process.pass("")
		f()
	})
}

// A journal is the arena's history as a process has it.
type journal struct{ arena *arena }

// Now implements workload.Journal.
func (j journal) Now() time.Duration { return j.arena.now() }

// Record implements workload.Journal.
func (j journal) Record(e history.Event) { j.arena.record(e) }

// NextID implements workload.Journal.
func (j journal) NextID() uint64 { return j.arena.nextID() }
