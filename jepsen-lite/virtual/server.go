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
	turn  chan struct{} // held by whoever starts or crashes it

	mu    sync.Mutex
	down  int // faults that keep it down
	blows int // such faults so far
	disks []*Disk
	joins bool // it was removed from the cluster and joins it anew
	host  *Host
	still *standstill
	clock stillClock
	node  *node.Node // nil while it is down
	runs  int        // incarnations so far

	excused map[int]bool // incarnations that a fault gave a reason to stop
}

func addr(name string) string { return name + ":7400" }

// found starts all nodes and waits until they can serve.
func (a *arena) found() error {
	for i := range a.plan.Nodes {
		name := plan.NodeName(i)
		s := &server{arena: a, name: name, turn: make(chan struct{}, 1), excused: make(map[int]bool)}
		s.insertDisk()
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

// insertDisk gives the server an empty disk. The one before is kept for what
// it has.
func (s *server) insertDisk() {
	a := s.arena
	s.mu.Lock()
	defer s.mu.Unlock()
	seed := a.plan.Seed*plan.MaxNodes + uint64(len(a.nodes)) + uint64(len(s.disks))<<32
	s.disks = append(s.disks, NewDisk(seed, func(index uint64) {
		a.record(history.Event{Kind: history.Snapshot, Node: s.name, Index: index})
	}, s.mustStop))
}

// disk returns the disk that the server has now.
func (s *server) disk() *Disk {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.disks[len(s.disks)-1]
}

// start runs a new process on the server's disk.
func (s *server) start() error {
	a := s.arena
	host, still := a.net.Host(s.name), newStandstill()
	clock := stillClock{a.newClock(s.name), still}
	cfg := node.Config{
		ID: s.name, Listen: addr(s.name), Storage: stillDisk{s.disk(), still}, Network: host, Clock: clock,
		ElectionTimeout: time.Duration(a.plan.Election), DiskTimeout: diskTimeout, SnapshotThreshold: a.plan.Snapshot, Logger: a.logger(s.name),
	}
	if s.joining() {
		cfg.Join = a.anyMember(s.name)
	} else {
		for i := range a.plan.Nodes {
			cfg.Peers = append(cfg.Peers, node.Peer{ID: plan.NodeName(i), Addr: addr(plan.NodeName(i))})
		}
	}
	n, err := node.Open(a.ctx, cfg)
	if err != nil {
		return fmt.Errorf("start node %s: %w", s.name, err)
	}
	s.mu.Lock()
	s.host, s.still, s.clock, s.node = host, still, clock, n
	s.runs++
	s.mu.Unlock()
	s.embed()
	return nil
}

// crash ends the process: nothing of it reaches network or disk any more.
func (s *server) crash() {
	s.mu.Lock()
	n, host, still := s.node, s.host, s.still
	s.node = nil
	s.mu.Unlock()
	if n == nil {
		return
	}
	bury := s.bereave()
	host.Die()
	s.disk().Crash()
	still.end()
	s.arena.left.Go(func() {
		_ = n.Close() // its disk is gone: that is an error
		bury()
	})
}

// joining reports whether the node was removed and joins anew.
func (s *server) joining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.joins
}

// revive starts the node unless it is up or has to stay down, and returns which
// incarnation that is, 0 if none was started. One that has stopped by itself,
// and may have, is started anew. The caller holds the server's turn.
func (s *server) revive() (run int, err error) {
	if n, run := s.running(); n != nil && n.Err() != nil && s.mayStop(run) && !s.staysDown() {
		s.crash()
	}
	if n, _ := s.running(); n != nil || s.staysDown() {
		return 0, nil
	}
	if err := s.start(); err != nil {
		return 0, err
	}
	_, run = s.running()
	return run, nil
}

// staysDown reports whether a fault keeps the node down.
func (s *server) staysDown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down > 0
}

// stands reports whether an incarnation is up and nothing strikes it.
func (s *server) stands(run int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down == 0 && s.node != nil && s.runs == run && s.node.Err() == nil
}

// struck notes down a fault that keeps the node down, or from working. The
// caller holds the server's lock.
func (s *server) struck() { s.down, s.blows = s.down+1, s.blows+1 }

// undisturbed returns what reports whether no such fault has struck an
// incarnation since the call, or did at the call.
func (s *server) undisturbed(run int) func() bool {
	stood := s.stands(run)
	s.mu.Lock()
	defer s.mu.Unlock()
	blows := s.blows
	return func() bool {
		stands := s.stands(run)
		s.mu.Lock()
		defer s.mu.Unlock()
		return stood && stands && s.blows == blows
	}
}

// running returns the node, nil while it is down, and which incarnation of it.
func (s *server) running() (*node.Node, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.node, s.runs
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
