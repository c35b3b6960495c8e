package virtual

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

var errDisk = errors.New("input/output error")

// An ailment is what faults do to a disk. The zero value does nothing.
type ailment struct {
	failing int           // faults that make each write fail
	full    int           // faults that leave no room
	hung    int           // faults that hang it
	release chan struct{} // closed when nothing hangs it any more
	delay   time.Duration // of each write
	changes int           // of all this
}

// Fail makes every write fail, once more; some of what it wrote may be there
// nevertheless. The returned function takes it back.
func (d *Disk) Fail() (heal func()) {
	d.ail(func(a *ailment) { a.failing++ })
	return func() { d.ail(func(a *ailment) { a.failing-- }) }
}

// Fill leaves no room on the disk, once more: every write fails, and nothing of
// it is there. The returned function takes it back.
func (d *Disk) Fill() (heal func()) {
	d.ail(func(a *ailment) { a.full++ })
	return func() { d.ail(func(a *ailment) { a.full-- }) }
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
	d.ailing.changes++
}

func (d *Disk) ailment() ailment {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ailing
}

// fails returns what a write fails with, if it does.
func (a *ailment) fails() error {
	switch {
	case a.full > 0:
		return syscall.ENOSPC
	case a.failing > 0:
		return errDisk
	}
	return nil
}

// probeWaits is how long a probe waits for a disk, at most.
const probeWaits = 20 * time.Millisecond

// Probe writes nothing, on the disk's own way of writing, and reports a disk
// that does not do what its faults say. It takes at most 20 ms, and longer only
// if faults come and go meanwhile.
func (d *Disk) Probe() error {
	for {
		is := d.ailment()
		err := d.probe(is)
		if d.ailment().changes == is.changes {
			return err
		}
	}
}

func (d *Disk) probe(is ailment) error {
	took, err := d.try(probeWaits)
	late := errors.Is(err, errCrashed)
	switch {
	case is.hung > 0 && !late:
		return fmt.Errorf("it hangs, and a write ended after %v: %w", took, err)
	case is.hung > 0 || late && is.delay+syncTakes > probeWaits:
		return nil
	case late:
		return fmt.Errorf("a write took more than %v", took)
	case took < is.delay+syncTakes:
		return fmt.Errorf("a write took %v, which was to be slowed by %v", took, is.delay)
	case !errors.Is(err, is.fails()):
		return fmt.Errorf("a write ended with %v, and should with %v", err, is.fails())
	}
	return nil
}

// try writes nothing for at most patience, and gives up with errCrashed.
func (d *Disk) try(patience time.Duration) (time.Duration, error) {
	begun, probe := time.Now(), &use{disk: d, ended: make(chan struct{}), pending: make(map[*write]struct{})}
	timeout := time.AfterFunc(patience, probe.cutShort)
	defer timeout.Stop()
	err := probe.write(nothing)
	return time.Since(begun), err
}
