package storage

import (
	"sync"
	"sync/atomic"
	"time"
)

// A running is a call into the stores that has not returned yet.
type running struct {
	op         string
	since      time.Time
	prev, next *running
}

// A watch knows which calls run and tells when the oldest has been running for
// too long. It costs a call no goroutine and no timer: one timer looks at the
// oldest call, and only as often as a call could have come of age.
type watch struct {
	mu         *sync.Mutex   // the guard's; all fields but stalled are used under it
	stallAfter time.Duration // 0: this watch never stalls
	failAfter  time.Duration
	hung       func(op string, after time.Duration) // called without mu

	oldest, newest *running
	spare          *running // used again, linked by next
	timer          *time.Timer
	armed          bool // the timer will look
	stopped        bool
	stalled        atomic.Bool
}

// start notes a call. The caller holds mu.
func (w *watch) start(op string) *running {
	r := w.spare
	if r == nil {
		r = new(running)
	} else {
		w.spare = r.next
	}
	*r = running{op: op, since: time.Now(), prev: w.newest}
	if w.newest != nil {
		w.newest.next = r
	} else {
		w.oldest = r
	}
	w.newest = r
	if !w.armed {
		w.arm(w.patience())
	}
	return r
}

// finish forgets a call. The caller holds mu.
func (w *watch) finish(r *running) {
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		w.oldest = r.next
	}
	if r.next != nil {
		r.next.prev = r.prev
	} else {
		w.newest = r.prev
	}
	*r = running{next: w.spare}
	w.spare = r
	// Only a call that stalled leaves anything to put right: the timer waits
	// for it to fail, which is too late for the next one.
	if w.stalled.Load() {
		if op, _ := w.look(time.Now()); op != "" {
			w.arm(0)
		}
	}
}

// patience is how long a call may run before the watch has something to say.
func (w *watch) patience() time.Duration {
	if w.stallAfter > 0 {
		return w.stallAfter
	}
	return w.failAfter
}

// arm makes the timer look after d. The caller holds mu.
func (w *watch) arm(d time.Duration) {
	if w.stopped {
		return
	}
	w.armed = true
	if w.timer == nil {
		w.timer = time.AfterFunc(d, w.tick)
		return
	}
	w.timer.Reset(d)
}

func (w *watch) tick() {
	w.mu.Lock()
	op, age := w.look(time.Now())
	w.mu.Unlock()
	if op != "" {
		w.hung(op, age)
	}
}

// look judges the oldest call and sees to the next look. It returns a call that
// has failed by its age. The caller holds mu.
func (w *watch) look(now time.Time) (op string, age time.Duration) {
	w.armed = false
	if w.oldest == nil {
		w.stalled.Store(false)
		return "", 0
	}
	age = now.Sub(w.oldest.since)
	w.stalled.Store(w.stallAfter > 0 && age >= w.stallAfter)
	if age >= w.failAfter {
		return w.oldest.op, age // and never looks again
	}
	if patience := w.patience(); age < patience {
		w.arm(patience - age)
	} else {
		w.arm(w.failAfter - age)
	}
	return "", 0
}

// stop ends the watch. The caller holds mu.
func (w *watch) stop() {
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
