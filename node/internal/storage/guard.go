package storage

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"example.com/tenure"
)

// Defaults of a [GuardConfig].
const (
	DefaultStallAfter = time.Second
	DefaultFailAfter  = 30 * time.Second
)

// closeWait is how long Close waits for calls that still run, and for the stores
// to close.
const closeWait = 2 * time.Second

// A GuardConfig says how a guard judges and whom it tells.
type GuardConfig struct {
	// Clock is read when an entry is stored, for StoredAt.
	Clock tenure.Clock
	// CheckEntry reports the data of a command that is not as it was encoded.
	// It is called for every command before it is stored and by Check, from
	// several goroutines, and must not keep the data.
	CheckEntry func(data []byte) error
	// Fail is called once, with why the stores stopped for good. It runs on
	// the goroutine that made the failing call or on one of the guard's own,
	// and must neither block nor wait for Raft.
	Fail func(error)
	// StallAfter is how long a call into the log or the stable store may run
	// before Stalled tells; 0 is DefaultStallAfter.
	StallAfter time.Duration
	// FailAfter is how long any call may run before the stores fail; 0 is
	// DefaultFailAfter. It must be longer than StallAfter.
	FailAfter time.Duration
}

// Guarded are stores behind a guard. All methods can be called concurrently.
type Guarded struct {
	inner  Stores
	cfg    GuardConfig
	stored *storedAt
	writes writeStats

	failure   atomic.Pointer[FailedError]
	truncated atomic.Bool // entries were deleted at the end and none stored since

	stable sync.Mutex // of the writers of stable values

	mu     sync.Mutex
	quick  watch               // of calls that Raft's main loop waits for
	slow   watch               // of snapshot calls, which take their time
	calls  int                 // that run
	closed bool                // no more calls
	idle   chan struct{}       // closed once closed and no call runs
	hidden map[string]struct{} // snapshots that Check could not read, by id
}

// Guard puts a guard before inner, which nothing else may use from then on. The
// caller closes the guard, which closes inner.
func Guard(inner Stores, cfg GuardConfig) *Guarded {
	if inner.Name == "" {
		inner.Name = "the node's storage"
	}
	if cfg.StallAfter == 0 {
		cfg.StallAfter = DefaultStallAfter
	}
	if cfg.FailAfter == 0 {
		cfg.FailAfter = DefaultFailAfter
	}
	g := &Guarded{
		inner:  inner,
		cfg:    cfg,
		stored: newStoredAt(),
		idle:   make(chan struct{}),
		hidden: make(map[string]struct{}),
	}
	g.quick = watch{mu: &g.mu, stallAfter: cfg.StallAfter, failAfter: cfg.FailAfter, hung: g.hung}
	g.slow = watch{mu: &g.mu, failAfter: cfg.FailAfter, hung: g.hung}
	return g
}

// ForRaft returns the stores as Raft may see them: a log or stable store call
// that fails, and every one after it, does not return but ends its goroutine.
// Snapshot calls return their errors, which Raft handles, except for Open.
func (g *Guarded) ForRaft() Stores {
	return Stores{
		Log:       raftLog{guardedLog{g}},
		Stable:    raftStable{guardedStable{g}},
		Snapshots: raftSnapshots{guardedSnapshots{g}},
		Name:      g.inner.Name,
		Close:     g.Close,
	}
}

// ForNode returns the stores for the node's own goroutines: all calls return
// their errors. A failure is a failure of the node all the same.
func (g *Guarded) ForNode() Stores {
	return Stores{
		Log:       guardedLog{g},
		Stable:    guardedStable{g},
		Snapshots: guardedSnapshots{g},
		Name:      g.inner.Name,
		Close:     g.Close,
	}
}

// Err returns the [*FailedError] that stopped the stores, or nil.
func (g *Guarded) Err() error {
	if f := g.failure.Load(); f != nil {
		return f
	}
	return nil
}

// Stalled reports whether the node should be silent, so that the others elect:
// a call into the log or the stable store has been running for longer than
// StallAfter, or the stores have failed. A stall ends by itself when the call
// returns. It reads two words and blocks on nothing.
func (g *Guarded) Stalled() bool {
	return g.quick.stalled.Load() || g.failure.Load() != nil
}

// call makes one call into the inner stores. Any error of f, a panic and a
// memory fault fail the stores: f keeps to itself what is no failure, such as
// an absent entry. What f did counts only if call returns nil.
func (g *Guarded) call(w *watch, op string, f func() error) (err error) {
	r, err := g.begin(w, op)
	if err != nil {
		return err
	}
	// A file that was cut short, or a page that the disk can't read, faults
	// when bolt touches its map. This makes it a panic on this goroutine.
	faults := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(faults)
		var stack []byte
		if p := recover(); p != nil {
			err = g.damage("a call into it panicked: %v", p)
			stack = debug.Stack()
		}
		if err != nil {
			g.fail(&FailedError{Op: op, Err: err, Stack: stack})
		}
		if failed := g.end(w, r); failed != nil {
			err = failed
		}
	}()
	return f()
}

func (g *Guarded) begin(w *watch, op string) (*running, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f := g.failure.Load(); f != nil {
		return nil, f
	}
	if g.closed {
		return nil, ErrClosed
	}
	g.calls++
	return w.start(op), nil
}

// end returns the failure if the stores have failed while the call ran: then
// nothing that it did may be acknowledged.
func (g *Guarded) end(w *watch, r *running) error {
	g.mu.Lock()
	w.finish(r)
	g.calls--
	if g.closed && g.calls == 0 {
		close(g.idle)
	}
	g.mu.Unlock()
	return g.Err()
}

// fail stops the stores for good. Only the first failure counts.
func (g *Guarded) fail(f *FailedError) {
	f.Name = g.inner.Name
	var damage *DamageError
	if !errors.As(f.Err, &damage) {
		f.Advice = adviseDisk
	}
	if g.failure.CompareAndSwap(nil, f) {
		g.cfg.Fail(f)
	}
}

func (g *Guarded) hung(op string, after time.Duration) {
	g.fail(&FailedError{Op: op, Err: fmt.Errorf("no answer for %v", after.Round(time.Millisecond))})
}

// Close ends the use of the stores, waits for the calls that run, and closes
// the inner stores. It returns within two seconds whatever the disk does:
// where a call hangs on, Close returns an error that says so, and the inner
// stores are closed when the call returns, if ever. A second Close returns
// ErrClosed at once.
func (g *Guarded) Close() error {
	if !g.refuseCalls() {
		return ErrClosed
	}
	closing := make(chan error, 1)
	go func() {
		<-g.idle
		closing <- g.closeInner()
	}()
	deadline := time.NewTimer(closeWait)
	defer deadline.Stop()
	select {
	case err := <-closing:
		return err
	case <-deadline.C:
		return fmt.Errorf("%s: left open, because a call into it hangs: it can't be opened again before this process ends", g.inner.Name)
	}
}

// refuseCalls makes the guard closed, and reports false if it was.
func (g *Guarded) refuseCalls() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.closed = true
	g.quick.stop()
	g.slow.stop()
	if g.calls == 0 {
		close(g.idle)
	}
	return true
}

func (g *Guarded) closeInner() error {
	return withFaults(g.inner.Name, g.inner.Close)
}

// exitIfDown ends the goroutine if err says that the stores are failed or
// closed. Raft answers some errors with a panic and others by going on, as if
// the next try could be right; neither may happen, and a goroutine that ends
// runs its deferred calls, with which Raft answers who waits for it.
func exitIfDown(err error) error {
	var failed *FailedError
	if errors.As(err, &failed) || errors.Is(err, ErrClosed) {
		runtime.Goexit()
	}
	return err
}
