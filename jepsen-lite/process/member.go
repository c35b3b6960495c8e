package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/child"
	"example.com/tenure/jepsen-lite/workload"
)

// A member is one process of a host, as the arena has it.
type member struct {
	arena *arena
	name  string
	node  bool // or a replica
	child *child.Child
	stdin *os.File
	out   *speaker // orders, over stdin
	open  chan struct{}
	ready chan struct{}
	heard chan struct{} // closed when it has ended and its last word is in

	mu        sync.Mutex
	listens   string // a node's real address
	status    status
	left      *left                    // once it has closed in good order
	failed    string                   // why it ended by itself
	dismissed bool                     // it is to end
	ratios    map[uint64]chan<- *ratio // orders that wait for their answers
	stopping  bool                     // it has said that it stops itself, and not yet that it goes on
}

// spawn starts a host's next process and tells it what it is.
func (a *arena) spawn(name string, s *setup) (*member, error) {
	ordersIn, ordersOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	wordsIn, wordsOut, err := os.Pipe()
	if err != nil {
		closeAll(ordersIn, ordersOut)
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(a.LogDir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		closeAll(ordersIn, ordersOut, wordsIn, wordsOut)
		return nil, err
	}
	defer closeAll(ordersIn, wordsOut, log) // the child has its own
	cmd := exec.Command(a.program)
	cmd.Args = []string{os.Args[0], name} // for those who look at a list of processes
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = ordersIn, log, log, []*os.File{wordsOut}
	started, err := child.Start(cmd)
	if err != nil {
		closeAll(ordersOut, wordsIn)
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	m := &member{
		arena: a, name: name, node: s.Dir != "", child: started, stdin: ordersOut, out: &speaker{out: ordersOut},
		open: make(chan struct{}), ready: make(chan struct{}), heard: make(chan struct{}),
		ratios: make(map[uint64]chan<- *ratio),
	}
	go m.listen(wordsIn)
	m.order(order{Setup: s})
	return m, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close() // nothing was written by us that could be lost
	}
}

// order tells the process something. That it has ended is told by its words.
func (m *member) order(o order) { _ = m.out.say(o) }

// listen hears all words of the process, and when it has ended.
func (m *member) listen(words *os.File) {
	defer close(m.heard)
	err := listen(words, m.hear)
	closeAll(words)
	if err != nil {
		m.arena.fail(fmt.Errorf("words of %s: %w", m.name, err))
	}
	ended := m.child.Err()
	closeAll(m.stdin)
	m.mu.Lock()
	dismissed, why := m.dismissed, m.failed
	m.mu.Unlock()
	if !dismissed {
		m.arena.lost(m, fmt.Sprintf("ended by itself: %s (%v), see its log", why, ended))
	}
}

func (m *member) hear(w word) {
	switch {
	case w.Event != nil:
		m.arena.write(*w.Event)
	case w.Command != nil:
		a, _ := m.arena.copies.Do(w.Command.Command) // never fails
		m.order(order{Answer: &answer{w.Command.ID, a}})
	case w.Listens != "":
		m.note(func() { m.listens = w.Listens })
		m.arena.net.Place(m.name, w.Listens)
	case w.Open:
		close(m.open)
	case w.Ready:
		close(m.ready)
	case w.Status != nil:
		m.note(func() { m.status = *w.Status })
	case w.Storing != nil:
		m.arena.noteStored(w.Storing)
	case w.Rate != nil:
		m.note(func() {
			if answered := m.ratios[w.Rate.ID]; answered != nil {
				answered <- w.Rate
				delete(m.ratios, w.Rate.ID)
			}
		})
	case w.StopsAt != "":
		m.note(func() { m.stopping = true })
		m.arena.sprung(m, w.StopsAt)
	case w.GoesOn:
		m.note(func() { m.stopping = false })
	case w.Failed != "":
		m.note(func() { m.failed = w.Failed })
	case w.Left != nil:
		m.note(func() { m.left = w.Left })
	}
}

func (m *member) note(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// kill ends the process as kill -9 does. What it had said is in when it
// returns.
func (m *member) kill() error {
	m.note(func() { m.dismissed = true })
	if err := m.child.Kill(); err != nil {
		return err
	}
	<-m.heard
	return nil
}

// close lets the process end in good order, and kills it if it does not in
// time or the run fails. It reports what was left in the process, nil if it had
// to be killed.
func (m *member) close(within time.Duration) *left {
	m.note(func() { m.dismissed = true })
	m.order(order{Close: true})
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-m.heard:
	case <-timer.C:
		m.arena.fail(m.kill())
	case <-m.arena.ctx.Done():
		m.arena.fail(m.kill())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.left
}

// resume lets the process go on. One that stops itself this very moment goes on
// as well.
func (m *member) resume() error {
	for {
		if err := m.child.Continue(); err != nil && !m.child.Ended() {
			return err
		}
		m.mu.Lock()
		stopping := m.stopping
		m.mu.Unlock()
		if !stopping || m.child.Ended() {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
}

// stopAt tells the process where to stop itself.
func (m *member) stopAt(points []workload.Point) { m.order(order{Stops: &stops{Points: points}}) }
