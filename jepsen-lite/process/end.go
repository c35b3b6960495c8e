package process

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

const (
	// agreeing is how long nodes get to apply the same when nobody asks
	// anything any more, and to say so.
	agreeing = time.Second
	// closing bounds how long a process may take to close in good order, on
	// top of what its work takes.
	closing = 20 * time.Second
)

// end closes everything in good order and writes down what is known only then.
func (a *arena) end(observers *sync.WaitGroup) {
	if a.ctx.Err() != nil {
		observers.Wait()
		return
	}
	after := &remains{}
	a.closeAll(plan.ReplicaName, a.Plan.Replicas, closing+2*time.Duration(a.Plan.TTL), after)
	a.stopReading()
	observers.Wait()
	a.sleep(agreeing)
	commit := a.committed()
	a.closeAll(plan.NodeName, a.Plan.Nodes, closing, after)
	a.progress()
	a.fail(a.writeLog(commit))
	after.record(a)
	if a.ctx.Err() == nil {
		a.Record(history.Event{Kind: history.End})
	}
}

// committed returns the highest index that any node knows to be committed.
func (a *arena) committed() uint64 {
	var commit uint64
	for i := range a.Plan.Nodes {
		m := a.member(plan.NodeName(i))
		m.note(func() { commit = max(commit, m.status.Commit) })
	}
	return commit
}

// closeAll closes the processes of n hosts at once.
func (a *arena) closeAll(name func(int) string, n int, within time.Duration, after *remains) {
	var wg sync.WaitGroup
	for i := range n {
		m := a.member(name(i))
		wg.Go(func() {
			l := m.close(within)
			after.add(m, l)
		})
	}
	wg.Wait()
}

// Remains are what was left of all processes when they had been closed.
type remains struct {
	mu                                        sync.Mutex
	processes, ports, goroutines, descriptors int
	tell                                      []string
}

func (r *remains) add(m *member, l *left) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.accepts() {
		r.ports++
		r.tell = append(r.tell, m.name+" still listens")
	}
	if l == nil {
		r.processes++
		r.tell = append(r.tell, fmt.Sprintf("%s did not close in good order: %s", m.name, m.failed))
		return
	}
	r.goroutines += l.Goroutines
	r.descriptors += l.Descriptors
	if l.Goroutines+l.Descriptors > 0 {
		r.tell = append(r.tell, m.name+" had too many of them: "+l.Stacks)
	}
}

func (r *remains) record(a *arena) {
	text := strings.Join(r.tell, "; ")
	for _, of := range []struct {
		name string
		n    int
	}{{"processes", r.processes}, {"ports", r.ports}, {"goroutines", r.goroutines}, {"descriptors", r.descriptors}} {
		e := history.Event{Kind: history.Leak, F: of.name, N: of.n}
		if of.n > 0 {
			e.Msg = text
		}
		a.Record(e)
	}
}
