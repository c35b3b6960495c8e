package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Size is how many servers a cluster has.
const Size = 3

// A Cluster is three server processes.
type Cluster struct {
	Kind      string
	Addrs     []string // for clients
	dir       string
	processes []*process
}

// Start starts a cluster with empty data in a new folder below dir, and returns
// once it serves. Servers of tenure log to files in logs, unless that is empty.
func Start(ctx context.Context, kind, dir, logs string) (*Cluster, error) {
	clients, err := freeAddrs(Size)
	if err != nil {
		return nil, err
	}
	peers, err := freeAddrs(Size)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(dir, kind+"-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{Kind: kind, Addrs: clients, dir: folder}
	for i := range Size {
		sp := spec{Kind: kind, ID: i, Dir: filepath.Join(folder, nodeID(i)), Clients: clients, Peers: peers}
		if logs != "" {
			sp.Log = filepath.Join(logs, filepath.Base(folder)+"-"+nodeID(i)+".log")
		}
		p, err := start(sp)
		if err != nil {
			c.Close()
			return nil, err
		}
		c.processes = append(c.processes, p)
	}
	if err := c.WaitReady(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Ports are chosen below those that systems give to the near ends of
// connections, so that none is taken while its server is down.
const (
	firstPort = 11_000
	ports     = 18_000
	tries     = 1000
)

// freeAddrs returns addresses at which nothing listens.
func freeAddrs(n int) (addrs []string, err error) {
	for range tries {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort+rand.IntN(ports)))
		l, failed := net.Listen("tcp", addr)
		if failed != nil {
			err = failed
			continue
		}
		defer l.Close()
		if addrs = append(addrs, addr); len(addrs) == n {
			return addrs, nil
		}
	}
	return nil, err
}

// poll is how often a cluster is looked at that is waited for.
const poll = 10 * time.Millisecond

// WaitReady blocks until all servers serve and one leads, or ctx ends.
func (c *Cluster) WaitReady(ctx context.Context) error {
	for {
		states, err := c.States(false)
		ready, leads := 0, 0
		for _, st := range states {
			if st.Ready {
				ready++
			}
			if st.Leads {
				leads++
			}
		}
		if err == nil && ready == Size && leads == 1 {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s: %d of %d servers are ready, %d lead: %w", c.Kind, ready, Size, leads, ctx.Err()), err)
		case <-time.After(poll):
		}
	}
}

// States asks all servers at once, after a collection of their garbage if that
// is wanted.
func (c *Cluster) States(collect bool) ([]State, error) {
	return c.each(question{Collect: collect})
}

// Profile has each server profile its processor time to a file in dir, for the
// ten seconds to come.
func (c *Cluster) Profile(dir, name string) error {
	for i, p := range c.processes {
		if _, err := p.ask(question{Profile: filepath.Join(dir, fmt.Sprintf("%s-%s-%s.prof", name, c.Kind, nodeID(i)))}); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) each(q question) ([]State, error) {
	states, errs := make([]State, len(c.processes)), make([]error, len(c.processes))
	var wg sync.WaitGroup
	for i, p := range c.processes {
		wg.Go(func() { states[i], errs[i] = p.ask(q) })
	}
	wg.Wait()
	return states, errors.Join(errs...)
}

// Leader returns which server leads.
func (c *Cluster) Leader() (int, error) {
	states, err := c.States(false)
	if err != nil {
		return 0, err
	}
	for i, st := range states {
		if st.Leads {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s: no server leads", c.Kind)
}

// CPU returns how long all servers have used processors.
func (c *Cluster) CPU() (used time.Duration, err error) {
	states, err := c.States(false)
	for _, st := range states {
		used += time.Duration(st.CPU)
	}
	return used, err
}

// Kill ends a server at once.
func (c *Cluster) Kill(i int) { c.processes[i].kill() }

// Stop has a server stop.
func (c *Cluster) Stop(i int) { c.processes[i].close() }

// Restart starts a server again that has ended, and returns how long it took
// until it served.
func (c *Cluster) Restart(ctx context.Context, i int) (time.Duration, error) {
	began := time.Now()
	p, err := start(c.processes[i].spec)
	if err != nil {
		return 0, err
	}
	c.processes[i] = p
	for {
		st, err := p.ask(question{})
		if err == nil && st.Ready {
			return time.Since(began), nil
		}
		select {
		case <-ctx.Done():
			return 0, errors.Join(err, ctx.Err())
		case <-p.ended:
			return 0, fmt.Errorf("%s %s ended when it was started again", c.Kind, nodeID(i))
		case <-time.After(poll):
		}
	}
}

// Close stops all servers and removes their data.
func (c *Cluster) Close() {
	var wg sync.WaitGroup
	for _, p := range c.processes {
		wg.Go(p.close)
	}
	wg.Wait()
	_ = os.RemoveAll(c.dir)
}
