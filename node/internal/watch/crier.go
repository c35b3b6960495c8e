package watch

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// The crier rests for restPerWake for each watcher that it woke, which is many
// times what waking one costs, so that waking takes a small part of a processor
// however many watch. A rest below leastRest is left out.
const (
	restPerWake = 10 * time.Microsecond
	leastRest   = time.Millisecond

	wakesPerYield = 16
)

// A crier tells watchers that wait of the entries that concern them.
type crier struct {
	ring     *Ring
	news     chan struct{} // holds a token if there may be entries after at
	stop     chan struct{} // closed by close
	watching atomic.Int64  // watchers in the directory

	mu        sync.Mutex
	directory directory
	at        *entry // everything up to here was told
	closed    bool
	running   sync.WaitGroup
	started   bool
}

func (c *crier) init(r *Ring) {
	c.ring = r
	c.news = make(chan struct{}, 1)
	c.stop = make(chan struct{})
	c.directory = newDirectory()
}

// notify says that there is a new entry. It is part of an append: while nobody
// watches it is one load.
func (c *crier) notify() {
	if c.watching.Load() == 0 {
		return
	}
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// add makes the crier tell the watcher of every entry that is linked after the
// call.
func (c *crier) add(w *Watcher) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	if !c.started {
		c.started = true
		c.running.Go(c.run)
	}
	// The first watcher counts before the crier takes its place: an append that
	// does not see it yet, and so does not notify, lies before that place.
	if c.watching.Add(1) == 1 {
		c.at = c.ring.newest.Load()
	}
	c.directory.add(w)
}

func (c *crier) remove(w *Watcher) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.directory.remove(w)
	c.watching.Add(-1)
}

func (c *crier) close() {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.stop)
	}
	c.mu.Unlock()
	c.running.Wait()
}

func (c *crier) run() {
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		select {
		case <-c.news:
		case <-c.stop:
			return
		}
		pause := time.Duration(c.cry()) * restPerWake
		if pause < leastRest {
			continue
		}
		rest.Reset(pause)
		select {
		case <-rest.C:
		case <-c.stop:
			return
		}
	}
}

// cry tells the watchers of all entries after the crier's place, and returns
// how many it woke.
func (c *crier) cry() (woken int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		next := c.at.next.Load()
		switch next {
		case nil:
			return woken
		case dropped:
			// Overtaken by the writer: nobody knows whom it would have
			// concerned.
			c.at = c.ring.newest.Load()
			c.directory.all(func(w *Watcher) { woken = c.call(w, dropped, c.at.index, woken) })
			continue
		}
		for i := range next.events {
			c.directory.each(&next.events[i], func(w *Watcher) { woken = c.call(w, next, next.index, woken) })
		}
		c.at = next
	}
}

// call tells one watcher, and yields the processor now and then, so that an
// apply never queues behind a thousand watchers that were woken at once.
func (c *crier) call(w *Watcher, e *entry, index uint64, woken int) int {
	if !w.call(e, index) {
		return woken
	}
	woken++
	if woken%wakesPerYield == 0 {
		runtime.Gosched()
	}
	return woken
}
