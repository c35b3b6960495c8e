package virtual

import (
	"errors"
	"sync"
	"syscall"
	"time"

	"example.com/tenure/node"
)

// syncTakes is how long a write to a disk takes until it is synced.
const syncTakes = 200 * time.Microsecond

var errCrashed = errors.New("the process that used the disk has crashed")

// A use is one opening of the disk.
type use struct {
	disk   *Disk
	stores node.Stores
	still  *standstill   // of the process, nil for a probe
	fails  func()        // told of each write that fails, nil for a probe
	ended  chan struct{} // closed when it is over

	mu      sync.Mutex
	over    bool
	pending map[*write]struct{}
}

// A write is one under way: steps, each of which happens as a whole or not at
// all, in order.
type write struct{ steps []func() error }

func nothing() error { return nil }

// write makes a write take its time. What becomes of one that is cut short, by
// a crash or a failure, is drawn: a first part of its steps happens, which may
// be none or all.
func (u *use) write(steps ...func() error) error {
	w := &write{steps}
	if !u.still.pass() || !u.begin(w) {
		return errCrashed
	}
	u.wait(syncTakes + u.disk.ailment().delay)
	if release := u.disk.ailment().release; release != nil {
		select {
		case <-release:
		case <-u.ended:
		}
	}
	err := u.finish(w)
	u.still.pass() // the disk goes on while the process stands still
	if u.fails != nil && (errors.Is(err, errDisk) || errors.Is(err, syscall.ENOSPC)) {
		u.fails()
	}
	return err
}

func (u *use) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-u.ended:
	}
}

func (u *use) begin(w *write) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.over {
		u.pending[w] = struct{}{}
	}
	return !u.over
}

func (u *use) finish(w *write) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		return errCrashed
	}
	delete(u.pending, w)
	ill := u.disk.ailment()
	err := ill.fails()
	switch {
	case err == nil:
		return w.apply(len(w.steps))
	case ill.full == 0:
		u.tear(w) // nobody is told how far it came
	}
	return err
}

// apply makes the first steps of a write happen.
func (w *write) apply(n int) error {
	for _, step := range w.steps[:n] {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// tear makes a first part of a write happen.
func (u *use) tear(w *write) { _ = w.apply(u.disk.draw(len(w.steps) + 1)) }

// cutShort ends the use in the midst of its writes.
func (u *use) cutShort() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		return
	}
	for w := range u.pending {
		u.tear(w)
	}
	u.end()
}

func (u *use) end() {
	u.over = true
	close(u.ended)
}

func (u *use) close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.over {
		u.end()
	}
	if u.stores.Close == nil {
		return nil
	}
	closing := u.stores.Close
	u.stores.Close = nil
	return closing()
}
