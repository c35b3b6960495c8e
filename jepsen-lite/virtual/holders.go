package virtual

import (
	"context"
	"time"

	"example.com/tenure/jepsen-lite/plan"
)

// killHolders lets replicas die. The next incarnation of each is another owner.
func (a *arena) killHolders(_ *plan.Fault, names []string) func() {
	for _, name := range names {
		a.keepDown(name)
		p := a.process(name)
		if p == nil {
			continue // another fault killed it
		}
		a.mu.Lock()
		a.processes[name] = nil
		a.mu.Unlock()
		p.die()
		ctx, cancel := context.WithTimeout(a.ctx, time.Second)
		if c, err := p.host.Dial(ctx, a.addrs[0]); err == nil {
			_ = c.Close() // of a probe
			a.fail("replica %s was killed and dials", name)
		}
		cancel()
	}
	return func() {
		for _, name := range names {
			a.letUp(name)
		}
	}
}

// keepDown keeps a replica that has died from being started, once more; letUp
// takes one such back, and starts it when it was the last.
func (a *arena) keepDown(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down[name]++
}

func (a *arena) letUp(name string) {
	a.mu.Lock()
	a.down[name]--
	start := a.down[name] == 0 && a.processes[name] == nil && a.ctx.Err() == nil
	a.mu.Unlock()
	if !start {
		return
	}
	a.begin(name)
	if p := a.process(name); p != nil && !p.passes() && p.free() {
		a.fail("replica %s was started and does not live", name)
	}
}

// pauseHolders lets replicas stand still.
func (a *arena) pauseHolders(_ *plan.Fault, names []string) func() {
	var paused []*process
	for _, name := range names {
		if p := a.process(name); p != nil {
			p.pause()
			paused = append(paused, p)
			if p.passes() {
				a.fail("replica %s was paused and goes on", name)
			}
		}
	}
	return func() {
		for _, p := range paused {
			p.resume()
			if !p.passes() && p.free() {
				a.fail("replica %s was resumed and stands still", p.name)
			}
		}
	}
}

// passes reports whether the process lives and makes a step soon.
func (p *process) passes() bool {
	passed := make(chan bool, 1)
	go func() { passed <- p.pass("") }()
	select {
	case lives := <-passed:
		return lives
	case <-time.After(leeway):
		return false
	}
}

// free reports whether the process lives and nothing makes it stand still.
func (p *process) free() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.dead && p.paused == 0
}
