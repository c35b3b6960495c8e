package virtual

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/observer"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/node"
)

// observe starts what looks on: who leads, what watches tell, what readers
// get, and how far the run is.
func (a *arena) observe(wg *sync.WaitGroup) {
	wg.Go(a.watchLeaders)
	wg.Go(a.lookUp)
	for i := range a.plan.Nodes {
		s := a.nodes[plan.NodeName(i)]
		wg.Go(s.watch)
		wg.Go(func() { a.read(i) })
	}
	wg.Go(func() {
		for a.sleep(10 * time.Second) {
			a.progress()
		}
	})
}

// watchLeaders writes down each leader, checksums, and nodes that fail by
// themselves.
func (a *arena) watchLeaders() {
	told := make(map[uint64]bool)
	failed := make(map[*node.Node]bool)
	for i := 0; a.sleep(20 * time.Millisecond); i++ {
		for j := range a.plan.Nodes {
			s := a.nodes[plan.NodeName(j)]
			n, run := s.running()
			if n == nil {
				continue
			}
			st := n.Status()
			if st.Role == tenure.RoleLeader && !told[st.Term] {
				told[st.Term] = true
				a.record(history.Event{Kind: history.Leader, Node: s.name, Term: st.Term})
			}
			if err := n.Err(); err != nil && !errors.Is(err, node.ErrClosed) && !failed[n] && !s.mayStop(run) {
				failed[n] = true
				a.breach(s.name, "stopped by itself: %v", err)
			}
		}
		if i%10 == 0 {
			a.sums()
		}
	}
}

// sums writes down the checksum of each node's state.
func (a *arena) sums() {
	for i := range a.plan.Nodes {
		s := a.nodes[plan.NodeName(i)]
		if n, _ := s.running(); n != nil {
			if st := n.Status(); st.AppliedIndex > 0 && st.Role != tenure.RoleStopped {
				a.record(history.Event{Kind: history.Sum, Node: s.name, Index: st.AppliedIndex, Sum: fmt.Sprintf("%016x", st.Checksum)})
			}
		}
	}
}

// watch watches the server's node, in each of its incarnations.
func (s *server) watch() {
	for s.arena.sleep(10 * time.Millisecond) {
		if n, run := s.running(); n != nil {
			_ = observer.Watch(s.arena.ctx, journal{s.arena}, s.name, run, n) // it may have ended by itself
		}
	}
}

func (a *arena) observer(stream uint64) *observer.Observer {
	return &observer.Observer{Plan: a.plan, Journal: journal{a}, Rand: rand.New(rand.NewPCG(a.plan.Seed, stream))}
}

// read reads keys through a client that knows the i-th node only.
func (a *arena) read(i int) {
	name := "reader-" + plan.NodeName(i)
	c, err := node.Dial(node.ClientConfig{Addrs: []string{addr(plan.NodeName(i))}, Network: a.net.Host(name)})
	if err != nil {
		a.fail("start the reader: %w", err)
		return
	}
	defer c.Close()
	a.observer(uint64(1000+i)).Read(a.ctx, name, c)
}

// lookUp looks keys up on nodes that are up.
func (a *arena) lookUp() {
	o := a.observer(4)
	o.LookUp(a.ctx, 100*time.Millisecond, func() (string, *node.Node) {
		name := plan.NodeName(o.Rand.IntN(a.plan.Nodes))
		n, _ := a.nodes[name].running()
		return name, n
	})
}
