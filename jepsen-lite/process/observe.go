package process

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/node"
)

// observe starts what looks at a node from within its process: who leads, what
// watches tell, what it has for the owners of keys.
func (p *participant) observe(ctx context.Context, n *node.Node) *sync.WaitGroup {
	wg := &sync.WaitGroup{}
	wg.Go(func() {
		if n.WaitReady(ctx) == nil {
			p.say(word{Ready: true})
		}
	})
	wg.Go(func() { p.watchStatus(ctx, n) })
	wg.Go(func() { p.watch(ctx, n) })
	wg.Go(func() { p.readLocally(ctx, n) })
	return wg
}

func (p *participant) note(text string) {
	p.journal.Record(history.Event{Kind: history.Note, Node: p.setup.Name, Msg: p.setup.Name + ": " + text})
}

func (p *participant) installed(index uint64) {
	p.journal.Record(history.Event{Kind: history.Snapshot, Node: p.setup.Name, Index: index})
}

// How often a node looks at itself, and tells how far it is.
const (
	lookEvery = 20 * time.Millisecond
	tellEvery = 200 * time.Millisecond
)

// watchStatus tells of each term in which the node leads, at once, and now and
// then of everything.
func (p *participant) watchStatus(ctx context.Context, n *node.Node) {
	var was tenure.Status
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for i := 0; ; i++ {
		st := n.Status()
		leads := st.Role == tenure.RoleLeader
		if leads && (was.Role != st.Role || was.Term != st.Term) {
			p.journal.Record(history.Event{Kind: history.Leader, Node: p.setup.Name, Term: st.Term})
		}
		if i%int(tellEvery/lookEvery) == 0 || st.Role != was.Role {
			p.tell(n)
		}
		was = st
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// tell tells the arena how far the node is, and the history the checksum of its
// state.
func (p *participant) tell(n *node.Node) {
	st := n.Status()
	p.say(word{Status: &status{Leads: st.Role == tenure.RoleLeader, Term: st.Term, Commit: st.CommitIndex}})
	if st.AppliedIndex > 0 && st.Role != tenure.RoleStopped {
		p.journal.Record(history.Event{
			Kind: history.Sum, Node: p.setup.Name, Index: st.AppliedIndex, Sum: fmt.Sprintf("%016x", st.Checksum),
		})
	}
}

var eventNames = map[tenure.EventKind]string{
	tenure.EventGranted: history.Granted, tenure.EventReleased: history.Released,
	tenure.EventForgotten: history.Forgotten, tenure.EventMissed: history.Missed,
}

// watch writes down what a watch of all keys tells.
func (p *participant) watch(ctx context.Context, n *node.Node) {
	client := fmt.Sprintf("%s.%d", p.setup.Name, p.setup.Run)
	w, err := n.Watch(node.WatchOptions{})
	if err != nil {
		p.note("watch: " + err.Error())
		return
	}
	defer w.Close()
	for {
		e, err := w.Next(ctx)
		if err != nil {
			return
		}
		p.journal.Record(history.Event{
			Kind: history.Watch, F: eventNames[e.Kind], Client: client, Node: p.setup.Name, Index: e.Index,
			Key: e.Record.Key, Owner: e.Record.Owner, Epoch: e.Record.Epoch,
		})
	}
}

// readLocally looks keys up on the node.
func (p *participant) readLocally(ctx context.Context, n *node.Node) {
	between := time.Duration(p.setup.Plan.Nodes) * 100 * time.Millisecond
	for {
		select {
		case <-time.After(rand.N(between)):
		case <-ctx.Done():
			return
		}
		key := p.setup.Plan.AnyKey(rand.IntN)
		ask := history.Event{Kind: history.Invoke, F: history.Owner, Node: p.setup.Name, ID: p.journal.NextID(), Key: key}
		p.journal.Record(ask)
		o := n.Owner(key)
		p.journal.Record(history.Event{Kind: history.OK, ID: ask.ID, Owner: o.Owner, Epoch: o.Epoch, Held: o.Held, Expired: o.Expired})
	}
}
