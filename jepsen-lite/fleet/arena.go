package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/relay"
)

// A Config says which fleet is put under faults. All fields are required.
type Config struct {
	Adapter  Adapter
	Replicas int           // 1 to MaxReplicas
	Ports    int           // at which each replica listens
	Keys     []string      // that clients write to
	Timeout  time.Duration // of one request of a client
	Rate     int           // requests a second, of all clients together
	Dir      string        // for the replicas' data and logs
	Kinds    []string      // of faults that are wanted
	Start    time.Duration // within which the fleet has to serve all keys
}

// An Arena is a fleet that runs. Its methods are for one goroutine.
type Arena struct {
	cfg      Config
	relays   *relay.Net
	replicas []Replica
	rec      *recorder
	values   *counter

	kinds  []string          // of faults that it can take
	off    map[string]string // those that it can't, and why
	lists  bool              // it can be read
	epochs bool              // its answers tell the epoch

	asking sync.WaitGroup // requests that nobody waits for

	mu      sync.Mutex
	running map[string]bool // what has to be killed at the end
}

// stopTime is how long a replica may take to die.
const stopTime = 10 * time.Second

// Open starts a fleet, waits until it takes a write for every key, and finds
// out what it can do. Close ends it, also when Open fails.
func Open(ctx context.Context, c Config) (*Arena, error) {
	a := &Arena{
		cfg: c, relays: relay.New(), rec: newRecorder(), values: newCounter(), off: make(map[string]string), running: make(map[string]bool),
	}
	if err := a.open(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *Arena) open(ctx context.Context) error {
	var err error
	if a.replicas, err = makeReplicas(a.cfg, a.relays); err != nil {
		return err
	}
	for _, r := range a.replicas {
		if err := a.start(ctx, r); err != nil {
			return err
		}
	}
	serving, cancel := context.WithTimeout(ctx, a.cfg.Start)
	defer cancel()
	if err := a.awaitServing(serving); err != nil {
		return err
	}
	return a.explore(ctx)
}

// Kinds returns the kinds of faults that were wanted and that the fleet can
// take.
func (a *Arena) Kinds() []string { return a.kinds }

// Off returns those that it can't, and why.
func (a *Arena) Off() map[string]string { return a.off }

// Owners reports whether answers tell the owner who gave them, and its epoch.
func (a *Arena) Owners() bool { return a.rec.owner() != "" }

// Lists reports whether the fleet can be read.
func (a *Arena) Lists() bool { return a.lists }

// Close kills all replicas and ends the relays. Only what can't be killed is
// left. It returns what went wrong, a replica that had ended by itself
// included.
func (a *Arena) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	var failed error
	for _, r := range a.replicas {
		if err := a.kill(ctx, r); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			failed = errors.Join(failed, fmt.Errorf("at the end: %w", err))
		}
	}
	a.asking.Wait()
	return errors.Join(failed, a.relays.Close())
}

func (a *Arena) start(ctx context.Context, r Replica) error {
	if err := a.cfg.Adapter.Start(ctx, r); err != nil {
		return fmt.Errorf("start %s: %w", r.Name, err)
	}
	a.mu.Lock()
	a.running[r.Name] = true
	a.mu.Unlock()
	return nil
}

// kill ends a replica if it runs.
func (a *Arena) kill(ctx context.Context, r Replica) error {
	a.mu.Lock()
	running := a.running[r.Name]
	a.mu.Unlock()
	if !running {
		return nil
	}
	err := a.cfg.Adapter.Kill(ctx, r)
	if errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	a.mu.Lock()
	a.running[r.Name] = false
	a.mu.Unlock()
	return err
}

// named returns the replica of a name, which must exist.
func (a *Arena) named(name string) Replica {
	i := slices.IndexFunc(a.replicas, func(r Replica) bool { return r.Name == name })
	return a.replicas[i]
}
