package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing/synctest"
)

// A world is one machine, the processes that write the ledger of one key on it,
// and what they have told others. It runs in a bubble of synctest: between two
// calls of the test every process stands still.
type world struct {
	machine     *machine
	processes   []*process
	epoch       uint64
	forgotten   uint64
	generations map[uint64]*generation // by forgotten epoch
	ids         int
	broken      string // the first broken promise
}

// A generation is what the processes of one forgotten epoch have told.
type generation struct {
	told   map[uint64]Entry // by place
	length uint64           // so many entries are there for good
}

const testKey = "tenant-1"

func newWorld() *world {
	return &world{machine: newMachine(), generations: make(map[uint64]*generation)}
}

func (w *world) generation(p *process) *generation {
	g, ok := w.generations[p.forgotten]
	if !ok {
		g = &generation{told: make(map[uint64]Entry)}
		w.generations[p.forgotten] = g
	}
	return g
}

func (w *world) breaks(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, args...)
	}
}

// tell notes that p told somebody of an entry.
func (w *world) tell(p *process, e Entry) {
	g := w.generation(p)
	if e.Epoch <= p.forgotten || e.Epoch > p.epoch {
		w.breaks("epoch %d, above forgotten epoch %d, told of %+v", p.epoch, p.forgotten, e)
	}
	if was, ok := g.told[e.Seq]; ok && was != e {
		w.breaks("epoch %d told of %+v where %+v was", p.epoch, e, was)
	}
	g.told[e.Seq] = e
	g.length = max(g.length, e.Seq)
}

// acquire begins a new tenure, in a new process.
func (w *world) acquire(epochsOn uint64) *process {
	w.epoch += epochsOn
	p := &process{machine: w.machine, epoch: w.epoch, forgotten: w.forgotten}
	w.processes = append(w.processes, p)
	go p.start(context.Background(), testKey)
	synctest.Wait()
	return p
}

// append lets p append a new entry, and returns its id.
func (w *world) append(p *process) string {
	w.ids++
	id := fmt.Sprintf("e%d", w.ids)
	w.retry(p, id)
	return id
}

func (w *world) retry(p *process, id string) {
	p.confirms++
	go func() {
		e, err := p.ledger.Append(context.Background(), id, "text of "+id)
		w.machine.mu.Lock()
		defer w.machine.mu.Unlock()
		p.confirms--
		if err != nil || p.dead {
			return
		}
		w.tell(p, e)
		if e.ID != id {
			w.breaks("append of %q returned %+v", id, e)
		}
	}()
	synctest.Wait()
}

// read lets p read the ledger, which must show all that anyone was told before.
func (w *world) read(p *process) {
	g := w.generation(p)
	length, superseded := g.length, w.superseded(p)
	p.confirms++
	go func() {
		entries, err := p.ledger.Entries(context.Background())
		w.machine.mu.Lock()
		defer w.machine.mu.Unlock()
		p.confirms--
		if err != nil || p.dead {
			return
		}
		if superseded {
			w.breaks("epoch %d was read although a later one was open before", p.epoch)
		}
		if n := uint64(len(entries)); n < length {
			w.breaks("epoch %d has %d entries of %d: %+v is lost", p.epoch, n, length, g.told[n+1])
		}
		for i, e := range entries {
			if e.Seq != uint64(i+1) {
				w.breaks("epoch %d has %+v at place %d", p.epoch, e, i+1)
			}
			w.tell(p, e)
		}
	}()
	synctest.Wait()
}

// superseded reports whether a process of a higher epoch has its ledger open.
func (w *world) superseded(p *process) bool {
	return slices.ContainsFunc(w.processes, func(q *process) bool { return q.opened && q.epoch > p.epoch })
}

// run lets a process take up to n steps.
func (w *world) run(p *process, n int, v verdict) {
	for ; n > 0 && len(p.steps) > 0; n-- {
		p.steps[0].turn <- v
		synctest.Wait()
	}
}

// runTo lets p run until it is about to take the named step.
func (w *world) runTo(p *process, operation, file string) {
	for len(p.steps) > 0 && !(strings.HasPrefix(p.steps[0].name, operation) && strings.HasSuffix(p.steps[0].name, file)) {
		w.run(p, 1, verdict{})
	}
}

// all is more steps than any process takes.
const all = 1000

// finish kills the processes that are left.
func (w *world) finish() {
	for _, p := range w.processes {
		p.kill()
	}
}

// settle checks that a new tenure which nobody disturbs has all there is, can
// write and leaves a tidy directory; and again after all frozen processes have
// gone on. It returns the first broken promise.
func (w *world) settle() string {
	for range 2 {
		p := w.acquire(1)
		w.run(p, all, verdict{})
		if !p.opened {
			return fmt.Sprintf("epoch %d could not open: %v", p.epoch, p.err)
		}
		want := []string{copyName(p.epoch), sealName(p.epoch)}
		if got := w.machine.namesIn("ledgers/" + testKey); !slices.Equal(got, want) {
			return fmt.Sprintf("the directory holds %v, want %v", got, want)
		}
		w.read(p)
		w.run(p, all, verdict{})
		before := w.generation(p).length
		w.append(p)
		w.run(p, all, verdict{})
		if w.generation(p).length != before+1 {
			return fmt.Sprintf("epoch %d could not append", p.epoch)
		}
		for _, frozen := range w.processes {
			w.run(frozen, all, verdict{})
		}
	}
	return w.broken
}
