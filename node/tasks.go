package node

import "sync"

// tasks are goroutines that a shutdown waits for. Unlike a sync.WaitGroup it
// can be asked to start one at any moment of the shutdown: it refuses then.
type tasks struct {
	mu      sync.Mutex
	running int
	closed  bool
	idle    chan struct{} // made by wait; closed when nothing runs
}

// start runs f on a goroutine of its own, or returns false if no more is to be
// started.
func (t *tasks) start(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.running++
	go func() {
		defer t.finish() // also when a failed storage ends the goroutine
		f()
	}()
	return true
}

func (t *tasks) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running--; t.running == 0 && t.idle != nil {
		close(t.idle)
	}
}

// wait starts nothing more and blocks until nothing runs. It is called once.
func (t *tasks) wait() {
	t.mu.Lock()
	t.closed = true
	idle := make(chan struct{})
	if t.running == 0 {
		close(idle)
	} else {
		t.idle = idle
	}
	t.mu.Unlock()
	<-idle
}
