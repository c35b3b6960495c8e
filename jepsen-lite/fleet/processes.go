package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"

	"example.com/tenure/jepsen-lite/child"
)

// Processes are replicas that are processes of this host. An adapter that
// embeds it has Start, Kill, Pause and Resume, and lacks Write and Read. The
// zero value with a Command is ready. A process is struck together with its own
// children, unless they leave its process group; on Linux it dies with the
// harness, however that ends.
type Processes struct {
	// Command makes the command that runs a replica, a new one each time.
	// Without an output of its own it writes to the replica's Log.
	Command func(r Replica) *exec.Cmd

	mu      sync.Mutex
	running map[string]*child.Child
}

// Start starts the process of a replica, which must not run.
func (p *Processes) Start(_ context.Context, r Replica) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[r.Name] != nil {
		return fmt.Errorf("%s was started before, and not killed", r.Name)
	}
	cmd := p.Command(r)
	if cmd.Stdout == nil && cmd.Stderr == nil {
		log, err := os.OpenFile(r.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return fmt.Errorf("log of %s: %w", r.Name, err)
		}
		defer log.Close() // the process has its own
		cmd.Stdout, cmd.Stderr = log, log
	}
	started, err := child.Start(cmd)
	if err != nil {
		return err
	}
	if p.running == nil {
		p.running = make(map[string]*child.Child)
	}
	p.running[r.Name] = started
	return nil
}

// Kill ends the process of a replica as kill -9 does, and waits until it is
// gone. That it had ended by itself is an error, which says how.
func (p *Processes) Kill(_ context.Context, r Replica) error {
	p.mu.Lock()
	c := p.running[r.Name]
	delete(p.running, r.Name)
	p.mu.Unlock()
	if c == nil {
		return fmt.Errorf("%s was not started", r.Name)
	}
	if c.Ended() {
		return alone(r, c)
	}
	return c.Kill()
}

// Pause stops the process of a replica between two of its instructions.
func (p *Processes) Pause(_ context.Context, r Replica) error {
	return p.signal(r, (*child.Child).Stop)
}

// Resume lets the process of a replica go on.
func (p *Processes) Resume(_ context.Context, r Replica) error {
	return p.signal(r, (*child.Child).Continue)
}

func (p *Processes) signal(r Replica, send func(*child.Child) error) error {
	p.mu.Lock()
	c := p.running[r.Name]
	p.mu.Unlock()
	if c == nil {
		return fmt.Errorf("%s was not started", r.Name)
	}
	if c.Ended() {
		return alone(r, c)
	}
	return send(c)
}

// alone says how a process ended by itself.
func alone(r Replica, c *child.Child) error {
	err := c.Err()
	if err == nil {
		err = errors.New("exit status 0")
	}
	return fmt.Errorf("%s had ended by itself: %w, see %s", r.Name, err, r.Log)
}
