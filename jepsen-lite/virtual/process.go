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
// cluster, on a host and a clock of its own, or over the node that it embeds. It
// can be paused, as SIGSTOP does, and die.
type process struct {
	arena  *arena
	name   string
	host   *Host
	still  *standstill  // of the node that it embeds, if it does
	client *node.Client // nil if it embeds a node
	work   *workload.Process

	mu      sync.Mutex
	changed *sync.Cond
	paused  int // faults that pause it
	dead    bool
}

func (a *arena) startProcess(name string) (*process, error) {
	p := &process{arena: a, name: name}
	p.changed = sync.NewCond(&p.mu)
	store, clock, err := p.connect()
	if err != nil {
		return nil, fmt.Errorf("start replica %s: %w", name, err)
	}
	p.work, err = workload.Start(a.ctx, workload.Config{
		Name: name, Plan: a.plan, Store: store, Clock: clock, Journal: journal{a}, Copies: a.copies,
		Folder: a.folder, Pass: p.pass, Logger: a.logger(name),
	})
	if err != nil {
		p.disconnect()
		return nil, err
	}
	return p, nil
}

// connect returns the cluster as the process reaches it, and its clock.
func (p *process) connect() (tenure.Store, workload.Clock, error) {
	a := p.arena
	if s := a.serverOf(p.name); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.node == nil {
			return nil, nil, fmt.Errorf("the node %s, which it embeds, is down", s.name)
		}
		p.host, p.still = s.host, s.still
		return s.node, pausable{s.clock.Clock, p}, nil
	}
	p.host = a.net.Host(p.name)
	clock := pausable{a.newClock(p.name), p}
	client, err := node.Dial(node.ClientConfig{Addrs: a.addrs, Network: p.host, Clock: clock, Logger: a.logger(p.name)})
	if err != nil {
		return nil, nil, err
	}
	p.client = client
	return client, clock, nil
}

func (p *process) disconnect() {
	if p.client != nil {
		_ = p.client.Close() // it has nothing to say
	}
}

// pass blocks while the process is paused, and reports whether it lives.
func (p *process) pass(at workload.Point) bool {
	if at != "" {
		p.arena.spring(p, at)
	}
	for {
		p.mu.Lock()
		for p.paused > 0 && !p.dead {
			p.changed.Wait()
		}
		dead := p.dead
		p.mu.Unlock()
		switch {
		case dead || !p.still.pass():
			return false
		case p.free():
			return true
		}
	}
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
	p.disconnect()
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
