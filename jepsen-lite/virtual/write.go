package virtual

import (
	"errors"
	"sync"
	"time"

	"example.com/tenure/node"
)

// syncTakes is how long a write to a disk takes until it is synced.
const syncTakes = 200 * time.Microsecond

var (
	errCrashed = errors.New("the process that used the disk has crashed")
	errDisk    = errors.New("input/output error")
)

// An ailment is what faults do to a disk. The zero value does nothing.
type ailment struct {
	failing int           // faults that make each write fail
	hung    int           // faults that hang it
	release chan struct{} // closed when nothing hangs it any more
	delay   time.Duration // of each write
}

// Fail makes every write fail, once more; what it wrote may be there
// nevertheless. The returned function takes it back.
func (d *Disk) Fail() (heal func()) {
	d.ail(func(a *ailment) { a.failing++ })
	return func() { d.ail(func(a *ailment) { a.failing-- }) }
}

// Slow makes every write take longer, on top of what others add. The returned
// function takes it back.
func (d *Disk) Slow(delay time.Duration) (heal func()) {
	d.ail(func(a *ailment) { a.delay += delay })
	return func() { d.ail(func(a *ailment) { a.delay -= delay }) }
}

// Hang makes every write wait until the returned function was called for each
// Hang.
func (d *Disk) Hang() (heal func()) {
	d.ail(func(a *ailment) {
		if a.hung++; a.hung == 1 {
			a.release = make(chan struct{})
		}
	})
	return func() {
		d.ail(func(a *ailment) {
			if a.hung--; a.hung == 0 {
				close(a.release)
				a.release = nil
			}
		})
	}
}

func (d *Disk) ail(change func(*ailment)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.ailing)
}

func (d *Disk) ailment() ailment {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ailing
}

// even draws whether a write that was cut short is on the disk.
func (d *Disk) even() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.IntN(2) == 0
}

// Probe writes nothing, for at most patience, and returns how long that took;
// an error says that it failed or hangs.
func (d *Disk) Probe(patience time.Duration) (time.Duration, error) {
	begun, probe := time.Now(), &use{disk: d, ended: make(chan struct{}), pending: make(map[*write]struct{})}
	done := make(chan error, 1)
	go func() { done <- probe.write(nil) }()
	select {
	case err := <-done:
		return time.Since(begun), err
	case <-time.After(patience):
		probe.cutShort()
		return time.Since(begun), errors.Join(errors.New("no answer"), <-done)
	}
}

// A use is one opening of the disk.
type use struct {
	disk   *Disk
	stores node.Stores
	ended  chan struct{} // closed when it is over

	mu      sync.Mutex
	over    bool
	pending map[*write]struct{}
}

// A write is one under way. It is applied as a whole or not at all.
type write struct{ apply func() error }

// write makes a write take its time. One that is cut short, by a crash or a
// failure, may have happened or not.
func (u *use) write(apply func() error) error {
	if apply == nil {
		apply = func() error { return nil }
	}
	w := &write{apply}
	if !u.begin(w) {
		return errCrashed
	}
	ill := u.disk.ailment()
	u.wait(syncTakes + ill.delay)
	if release := u.disk.ailment().release; release != nil {
		select {
		case <-release:
		case <-u.ended:
		}
	}
	return u.finish(w, ill.failing > 0 || u.disk.ailment().failing > 0)
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

func (u *use) finish(w *write, fails bool) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		return errCrashed
	}
	delete(u.pending, w)
	if !fails {
		return w.apply()
	}
	if u.disk.even() {
		_ = w.apply() // nobody is told
	}
	return errDisk
}

// cutShort ends the use in the midst of its writes.
func (u *use) cutShort() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		return
	}
	for w := range u.pending {
		if u.disk.even() {
			_ = w.apply() // nobody is left to be told
		}
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
