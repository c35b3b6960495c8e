package process

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/observer"
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
	wg.Go(func() {
		if err := observer.Watch(ctx, p.journal, p.setup.Name, p.setup.Run, n); err != nil {
			p.note("watch: " + err.Error())
		}
	})
	wg.Go(func() {
		between := time.Duration(p.setup.Plan.Nodes) * 100 * time.Millisecond
		randomly(p.setup.Plan, p.journal).LookUp(ctx, between, func() (string, *node.Node) { return p.setup.Name, n })
	})
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
