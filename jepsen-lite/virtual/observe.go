package virtual

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/node"
)

// observe starts what looks on: who leads, what watches tell, what readers
// get, and how far the run is.
func (a *arena) observe(wg *sync.WaitGroup) {
	wg.Go(a.watchLeaders)
	wg.Go(a.readLocally)
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
		n, run := s.running()
		if n == nil {
			continue
		}
		w, err := n.Watch(node.WatchOptions{})
		if err != nil {
			continue // it has just stopped
		}
		s.tell(w, fmt.Sprintf("%s.%d", s.name, run))
		w.Close()
	}
}

var eventNames = map[tenure.EventKind]string{
	tenure.EventGranted: history.Granted, tenure.EventReleased: history.Released,
	tenure.EventForgotten: history.Forgotten, tenure.EventMissed: history.Missed,
}

func (s *server) tell(w *node.Watch, client string) {
	for {
		e, err := w.Next(s.arena.ctx)
		if err != nil {
			return
		}
		s.arena.record(history.Event{
			Kind: history.Watch, F: eventNames[e.Kind], Client: client, Node: s.name, Index: e.Index,
			Key: e.Record.Key, Owner: e.Record.Owner, Epoch: e.Record.Epoch,
		})
	}
}

// read reads keys linearizably, through a client that knows the i-th node only:
// that may be the one that believes to lead and does not any more.
func (a *arena) read(i int) {
	name := "reader-" + plan.NodeName(i)
	rng := rand.New(rand.NewPCG(a.plan.Seed, uint64(1000+i)))
	c, err := node.Dial(node.ClientConfig{Addrs: []string{addr(plan.NodeName(i))}, Network: a.net.Host(name)})
	if err != nil {
		a.fail("start the reader: %w", err)
		return
	}
	defer c.Close()
	for a.sleep(time.Duration(rng.Int64N(int64(200 * time.Millisecond)))) {
		ask := history.Event{Kind: history.Invoke, F: history.Get, Client: name, ID: a.nextID(), Key: a.plan.AnyKey(rng.IntN)}
		a.record(ask)
		ctx, cancel := context.WithTimeout(a.ctx, time.Second)
		v, err := c.Get(ctx, ask.Key)
		cancel()
		e := history.Event{Kind: history.OK, ID: ask.ID, Client: name}
		switch r := v.Record; {
		case errors.Is(err, tenure.ErrUnavailable):
			e.Kind, e.Err = history.Info, history.Unavailable
		case err != nil:
			e.Kind, e.Err, e.Msg = history.Fail, history.Invalid, err.Error()
		default:
			e.Owner, e.Epoch, e.Held, e.Forgotten, e.Expired = r.Owner, r.Epoch, r.Held, r.ForgottenAtEpoch, v.Expired
		}
		a.record(e)
	}
}

// readLocally looks keys up on nodes that are up.
func (a *arena) readLocally() {
	rng := rand.New(rand.NewPCG(a.plan.Seed, 4))
	for a.sleep(time.Duration(rng.Int64N(int64(100 * time.Millisecond)))) {
		name := plan.NodeName(rng.IntN(a.plan.Nodes))
		n, _ := a.nodes[name].running()
		if n == nil {
			continue
		}
		ask := history.Event{Kind: history.Invoke, F: history.Owner, Node: name, ID: a.nextID(), Key: a.plan.AnyKey(rng.IntN)}
		a.record(ask)
		o := n.Owner(ask.Key)
		a.record(history.Event{Kind: history.OK, ID: ask.ID, Owner: o.Owner, Epoch: o.Epoch, Held: o.Held, Expired: o.Expired})
	}
}
