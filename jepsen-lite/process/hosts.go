package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"example.com/tenure/jepsen-lite/nemesis"
	"example.com/tenure/jepsen-lite/plan"
)

// opening bounds how long a process may take until it works, as far as it gets
// alone.
const opening = 30 * time.Second

// Start implements nemesis.Hosts.
func (a *arena) Start(ctx context.Context, name string) error {
	s, err := a.setup(name)
	if err != nil {
		return err
	}
	m, err := a.spawn(name, s)
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.members[name] = m
	m.stopAt(a.points(name))
	if rate, set := a.rates[name]; set && rate != s.Rate { // since it was told its own
		m.order(order{Rate: &rateOrder{Rate: rate}})
	}
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, opening)
	defer cancel()
	select {
	case <-m.open:
		return nil
	case <-m.heard:
		return fmt.Errorf("%s ended at its start, see its log", name)
	case <-ctx.Done():
		return fmt.Errorf("start %s: %w", name, ctx.Err())
	}
}

// setup returns what a host's next process is told.
func (a *arena) setup(name string) (*setup, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs[name]++
	a.processes++
	s := &setup{Name: name, Run: a.runs[name], Start: a.start, IDs: a.processes << idBits, Files: a.dataDir("files"), Plan: a.Plan, Rate: 1}
	if rate, set := a.rates[name]; set {
		s.Rate = rate
	}
	for i := range a.Plan.Nodes {
		if plan.NodeName(i) == name {
			s.Dir = a.dataDir(name)
		}
	}
	var err error
	s.Dials, err = a.dials(name)
	return s, err
}

// dials returns where a host dials the nodes.
func (a *arena) dials(name string) (map[string]string, error) {
	dials := make(map[string]string)
	for i := range a.Plan.Nodes {
		n := plan.NodeName(i)
		relay, err := a.net.Address(name, n, 0)
		if err != nil {
			return nil, err
		}
		dials[nodeAddr(n)] = relay
	}
	return dials, nil
}

func (a *arena) member(name string) *member {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.members[name]
}

// Kill implements nemesis.Hosts.
func (a *arena) Kill(_ context.Context, name string) error {
	m := a.member(name)
	if m.node {
		defer a.net.Place(name) // nowhere: its port may soon be another's
	}
	return m.kill()
}

// Pause implements nemesis.Hosts.
func (a *arena) Pause(_ context.Context, name string) error { return a.member(name).child.Stop() }

// Resume implements nemesis.Hosts.
func (a *arena) Resume(_ context.Context, name string) error { return a.member(name).resume() }

// State implements nemesis.Hosts.
func (a *arena) State(name string) (nemesis.State, error) {
	m := a.member(name)
	stopped, err := m.child.Stopped()
	switch {
	case err != nil:
		return nemesis.Gone, err
	case stopped:
		return nemesis.Stopped, nil
	case !m.child.Ended() || m.accepts():
		return nemesis.Running, nil
	}
	return nemesis.Gone, nil
}

// accepts reports whether the port of a node takes connections.
func (m *member) accepts() bool {
	m.mu.Lock()
	addr := m.listens
	m.mu.Unlock()
	if addr == "" {
		return false
	}
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	_ = c.Close() // of a probe
	return true
}

// Leader implements nemesis.Hosts: the node that said last that it leads, in
// the highest term.
func (a *arena) Leader() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	name, term := "", uint64(0)
	for _, m := range a.members {
		m.mu.Lock()
		if m.status.Leads && m.status.Term > term && !m.child.Ended() {
			name, term = m.name, m.status.Term
		}
		m.mu.Unlock()
	}
	return name
}

// Transfer implements nemesis.Transferer.
func (a *arena) Transfer(_ context.Context, name string) error {
	m := a.member(name)
	if m.child.Ended() {
		return errors.New("the node is down")
	}
	m.order(order{Transfer: true})
	return nil
}
