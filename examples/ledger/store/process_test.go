package store

import (
	"context"
	"errors"
	"slices"
	"testing/synctest"
)

// A process is one incarnation of a replica with one tenure of the key. It
// stands still before each operation on the machine until the test lets it take
// it, so that it can be frozen or killed everywhere.
type process struct {
	machine   *machine
	epoch     uint64
	forgotten uint64 // when its tenure was granted
	steps     []*step
	dead      bool
	opened    bool
	err       error // of opening
	ledger    *Ledger
	confirms  int // calls under way that confirm without writing
}

// A step is an operation that a process is about to take.
type step struct {
	name string
	turn chan verdict
}

// A verdict says how a step goes.
type verdict struct {
	die  bool // the process dies in the step
	fail bool // the disk fails in the step
	done bool // where it dies or fails: having taken effect
	shy  bool // a listing shows none of the names that changed meanwhile, else all
	part int  // a write that dies or fails: so many bytes in a hundred take effect
}

var errKilled = errors.New("killed")

func (p *process) Epoch() uint64          { return p.epoch }
func (p *process) Live(epoch uint64) bool { return epoch > p.forgotten && epoch <= p.epoch }

// take waits for the step's turn and takes it.
func (p *process) take(name string, run func(v verdict) error) error {
	s := &step{name: name, turn: make(chan verdict)}
	if !p.queue(s) {
		return errKilled
	}
	v := <-s.turn
	p.machine.mu.Lock()
	defer p.machine.mu.Unlock()
	p.steps = slices.DeleteFunc(p.steps, func(x *step) bool { return x == s })
	var err error
	if v.done || !v.die && !v.fail {
		err = run(v)
	}
	switch {
	case v.die:
		return errKilled
	case v.fail:
		return errIO
	}
	return err
}

func (p *process) queue(s *step) bool {
	p.machine.mu.Lock()
	defer p.machine.mu.Unlock()
	if !p.dead {
		p.steps = append(p.steps, s)
	}
	return !p.dead
}

// start opens the ledger; the steps are the test's to allow.
func (p *process) start(ctx context.Context, key string) {
	s := &Store{dir: "ledgers", disk: p}
	p.ledger, p.err = s.Open(ctx, key, p)
	p.opened = p.err == nil
}

// kill ends the process: what it is about to do does not happen any more.
func (p *process) kill() {
	p.machine.mu.Lock()
	p.dead = true
	steps := slices.Clone(p.steps)
	p.machine.mu.Unlock()
	for _, s := range steps {
		s.turn <- verdict{die: true}
	}
	synctest.Wait()
}

func (p *process) makeDir(string) error { return nil }

func (p *process) names(dir string) ([]string, error) {
	var s *scan
	if err := p.take("begin to list", func(verdict) error { s = p.machine.beginScan(dir); return nil }); err != nil {
		return nil, err
	}
	var names []string
	err := p.take("end the listing", func(v verdict) error { names = p.machine.endScan(s, !v.shy); return nil })
	return names, err
}

func (p *process) create(path string) (file, error) {
	var n *inode
	err := p.take("create "+path, func(verdict) (err error) { n, err = p.machine.create(path); return err })
	return &openFile{p: p, inode: n}, err
}

func (p *process) read(path string) (data []byte, err error) {
	err = p.take("read "+path, func(verdict) (err error) { data, err = p.machine.read(path); return err })
	return data, err
}

func (p *process) exists(path string) (there bool, err error) {
	err = p.take("look for "+path, func(verdict) error { _, there = p.machine.files[path]; return nil })
	return there, err
}

func (p *process) rename(oldPath, newPath string) error {
	return p.take("rename "+oldPath, func(verdict) error { return p.machine.rename(oldPath, newPath) })
}

func (p *process) remove(path string) error {
	return p.take("remove "+path, func(verdict) error { return p.machine.remove(path) })
}

func (p *process) syncDir(string) error {
	return p.take("sync the directory", func(verdict) error { p.machine.syncDir(); return nil })
}

type openFile struct {
	p     *process
	inode *inode
}

func (f *openFile) Write(data []byte) (int, error) {
	err := f.p.take("write", func(v verdict) error {
		n := len(data)
		if v.die || v.fail {
			n = n * v.part / 100
		}
		f.inode.data = append(f.inode.data, data[:n]...)
		return nil
	})
	return len(data), err
}

func (f *openFile) Sync() error {
	return f.p.take("sync", func(verdict) error { f.inode.synced = len(f.inode.data); return nil })
}

func (f *openFile) Close() error { return nil }
