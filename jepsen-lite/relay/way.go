package relay

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Vanished is how long bytes are held back by a cut before their connection
// breaks, as it does where the other end has vanished.
const Vanished = 10 * time.Second

var (
	errOver     = errors.New("the connection is over")
	errVanished = errors.New("nothing passed for too long")
)

// A state is which faults strike a way. The zero value is none.
type state struct {
	version  uint64 // rises with each change
	cuts     int
	halfOpen int
	delay    time.Duration // the sum of all
	jitter   time.Duration
	rates    []int64 // bytes per second, the smallest counts
}

// rate returns the bytes per second that may pass, 0 for any number.
func (s *state) rate() int64 {
	if len(s.rates) == 0 {
		return 0
	}
	return slices.Min(s.rates)
}

// A way is everything that goes from one host to another.
type way struct {
	mu      sync.Mutex
	state   state
	changed chan struct{} // closed and made anew at each change
	free    time.Time     // when a throttled way takes the next bytes
}

func newWay() *way { return &way{changed: make(chan struct{})} }

func (w *way) now() state {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.state
	s.rates = slices.Clone(s.rates)
	return s
}

// change changes the state and wakes whatever waits for that.
func (w *way) change(f func(*state)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(&w.state)
	w.state.version++
	close(w.changed)
	w.changed = make(chan struct{})
}

// due returns when what is sent now arrives at the earliest.
func (w *way) due() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	delay := w.state.delay
	if w.state.jitter > 0 {
		delay += rand.N(w.state.jitter)
	}
	return time.Now().Add(delay)
}

// slice returns how many of so many bytes go at once: on a throttled way what
// passes in a twentieth of a second.
func (w *way) slice(bytes int) int {
	s := w.now()
	if rate := s.rate(); rate > 0 {
		return int(min(int64(bytes), max(1, rate/20)))
	}
	return bytes
}

// pass blocks until the bytes of a connection, or its end, may pass. It fails
// when done is closed first, or when a cut has held them for too long.
func (w *way) pass(done <-chan struct{}, due time.Time, bytes int, end bool) error {
	var held time.Time
	for {
		wait, cut, changed := w.admit(due, bytes, end)
		if wait == 0 {
			return nil
		}
		if !cut {
			held = time.Time{}
		} else if held.IsZero() {
			held = time.Now()
		}
		if cut {
			wait = Vanished - time.Since(held)
		}
		if wait <= 0 {
			return errVanished
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-done:
			timer.Stop()
			return errOver
		}
		timer.Stop()
	}
}

// admit returns 0 if the bytes may pass now, and else how long to wait unless
// the state changes, and whether that is for a cut. On a throttled way it
// takes their time.
func (w *way) admit(due time.Time, bytes int, end bool) (wait time.Duration, cut bool, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if w.state.cuts > 0 {
		return Vanished, true, w.changed
	}
	if end && w.state.halfOpen > 0 {
		return time.Hour, false, w.changed
	}
	rate := w.state.rate()
	if rate > 0 && w.free.After(due) {
		due = w.free
	}
	if wait = due.Sub(now); wait > 0 {
		return wait, false, w.changed
	}
	if rate > 0 {
		w.free = now.Add(time.Duration(float64(bytes) / float64(rate) * float64(time.Second)))
	}
	return 0, false, nil
}
