package virtual

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/node"
)

// A server is a node of the cluster: its disk, and the process that runs on it.
type server struct {
	arena *arena
	name  string
	disk  *Disk
	turn  chan struct{} // held by whoever starts or crashes it

	mu    sync.Mutex
	down  int // faults that keep it down
	host  *Host
	clock *Clock
	node  *node.Node // nil while it is down
	runs  int        // incarnations so far

	excused map[int]bool // incarnations whose disk gave them a reason to stop
}

func addr(name string) string { return name + ":7400" }

// found starts all nodes and waits until they can serve.
func (a *arena) found() error {
	for i := range a.plan.Nodes {
		name := plan.NodeName(i)
		s := &server{arena: a, name: name, turn: make(chan struct{}, 1), excused: make(map[int]bool)}
		s.disk = NewDisk(a.plan.Seed*plan.MaxNodes+uint64(i), func(index uint64) {
			a.record(history.Event{Kind: history.Snapshot, Node: name, Index: index})
		})
		a.nodes[name] = s
		a.addrs = append(a.addrs, addr(name))
	}
	for i := range a.plan.Nodes {
		if err := a.nodes[plan.NodeName(i)].start(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(a.ctx, foundingTakes)
	defer cancel()
	for name, s := range a.nodes {
		if err := s.node.WaitReady(ctx); err != nil {
			return fmt.Errorf("found the cluster: %s: %w", name, err)
		}
	}
	return nil
}

// start runs a new process on the server's disk.
func (s *server) start() error {
	a := s.arena
	var peers []node.Peer
	for i := range a.plan.Nodes {
		peers = append(peers, node.Peer{ID: plan.NodeName(i), Addr: addr(plan.NodeName(i))})
	}
	host, clock := a.net.Host(s.name), a.newClock(s.name)
	n, err := node.Open(a.ctx, node.Config{
		ID: s.name, Listen: addr(s.name), Peers: peers, Storage: s.disk, Network: host, Clock: clock,
		ElectionTimeout: time.Duration(a.plan.Election), DiskTimeout: diskTimeout, SnapshotThreshold: a.plan.Snapshot, Logger: a.logger(s.name),
	})
	if err != nil {
		return fmt.Errorf("start node %s: %w", s.name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.host, s.clock, s.node = host, clock, n
	s.runs++
	return nil
}

// crash ends the process: nothing of it reaches network or disk any more.
func (s *server) crash() {
	s.mu.Lock()
	n, host := s.node, s.host
	s.node = nil
	s.mu.Unlock()
	if n == nil {
		return
	}
	host.Die()
	s.disk.Crash()
	s.arena.left.Go(func() { _ = n.Close() }) // its disk is gone: that is an error
}

// revive starts the node unless it is up or has to stay down, and returns
// which incarnation that is, 0 if none was started.
func (s *server) revive() (run int, err error) {
	s.mu.Lock()
	idle := s.down == 0 && s.node == nil
	s.mu.Unlock()
	if !idle {
		return 0, nil
	}
	if err := s.start(); err != nil {
		return 0, err
	}
	_, run = s.running()
	return run, nil
}

// stands reports whether an incarnation is up and nothing strikes it.
func (s *server) stands(run int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down == 0 && s.node != nil && s.runs == run && s.node.Err() == nil
}

// running returns the node, nil while it is down, and which incarnation of it.
func (s *server) running() (*node.Node, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.node, s.runs
}

// setRate changes the rate of the process's clock.
func (s *server) setRate(rate float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock != nil {
		s.clock.SetRate(rate)
	}
}

// leader returns the name of the node that leads in the highest term, "" if
// none does.
func (a *arena) leader() string {
	name, term := "", uint64(0)
	for i := range a.plan.Nodes {
		s := a.nodes[plan.NodeName(i)]
		if n, _ := s.running(); n != nil {
			if st := n.Status(); st.Role == tenure.RoleLeader && st.Term > term {
				name, term = s.name, st.Term
			}
		}
	}
	return name
}

func (a *arena) closeNodes() {
	var closing sync.WaitGroup
	for _, s := range a.nodes {
		if n, _ := s.running(); n != nil {
			closing.Go(func() {
				if err := n.Close(); err != nil {
					a.note(fmt.Sprintf("close %s: %v", s.name, err))
				}
			})
		}
	}
	closing.Wait()
}
