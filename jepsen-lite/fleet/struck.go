package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/nemesis"
)

const (
	retryWait = 50 * time.Millisecond  // for what is waited for
	silence   = 300 * time.Millisecond // for which a replica that is paused must not answer
	underWay  = 50 * time.Millisecond  // until a request has been sent
	mostQueue = 64                     // requests wait for a replica that wakes up
)

// struck is the fleet as the nemesis sees it. What a replica does it tells by
// looking from outside: whether it listens, and whether one that is paused
// answers.
type struck struct {
	*Arena
	mu     sync.Mutex
	paused map[string]bool
	silent map[string]bool // it did not listen either before it was killed
}

func newStruck(a *Arena) *struck {
	return &struck{Arena: a, paused: make(map[string]bool), silent: make(map[string]bool)}
}

// Start starts a replica again, and waits until it listens where it did before.
func (s *struck) Start(ctx context.Context, name string) error {
	r := s.named(name)
	if err := s.start(ctx, r); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, s.cfg.Start)
	defer cancel()
	for !s.is(s.silent, name) && !listens(waiting, r) {
		if !sleep(waiting, retryWait) && ctx.Err() == nil {
			return fmt.Errorf("it was started again and does not listen at %s after %v, see %s", r.Listen[0], s.cfg.Start, r.Log)
		} else if ctx.Err() != nil {
			return nil // all ends
		}
	}
	return nil
}

// Kill kills a replica.
func (s *struck) Kill(ctx context.Context, name string) error {
	r := s.named(name)
	s.set(s.silent, name, !listens(ctx, r))
	s.set(s.paused, name, false)
	return s.kill(ctx, r)
}

// Pause pauses a replica.
func (s *struck) Pause(ctx context.Context, name string) error {
	if err := s.cfg.Adapter.Pause(ctx, s.named(name)); err != nil {
		return err
	}
	s.set(s.paused, name, true)
	return nil
}

// Resume resumes a replica. Requests wait for it when it wakes up: if it still
// takes itself for an owner, it is asked before it learns better.
func (s *struck) Resume(ctx context.Context, name string) error {
	r := s.named(name)
	s.queue(r)
	sleep(ctx, underWay)
	s.set(s.paused, name, false)
	return s.cfg.Adapter.Resume(ctx, r)
}

// queue sends a replica a write for each key, or for many, and does not wait
// for the answers.
func (s *struck) queue(r Replica) {
	for i, at := range rand.Perm(len(s.cfg.Keys)) {
		if i == mostQueue {
			return
		}
		s.asking.Go(func() { _, _ = s.put(context.Background(), "waiting", r, s.cfg.Keys[at]) })
	}
}

// State tells what a replica does, as far as that can be seen: one that should
// stand still runs if it answers, any other if it listens.
func (s *struck) State(name string) (nemesis.State, error) {
	r := s.named(name)
	if s.is(s.paused, name) {
		if s.answers(r) {
			return nemesis.Running, nil
		}
		return nemesis.Stopped, nil
	}
	s.Arena.mu.Lock()
	running := s.running[name]
	s.Arena.mu.Unlock()
	if s.is(s.silent, name) && running || listens(context.Background(), r) {
		return nemesis.Running, nil
	}
	return nemesis.Gone, nil
}

// Leader returns whom a fault strikes that strikes the owner.
func (s *struck) Leader() string {
	owner := s.rec.owner()
	if !slices.ContainsFunc(s.replicas, func(r Replica) bool { return r.Name == owner }) {
		owner = s.replicas[rand.IntN(len(s.replicas))].Name
	}
	return owner
}

// Record writes an event.
func (s *struck) Record(e history.Event) { s.rec.write(e) }

// NextID returns an id.
func (s *struck) NextID() uint64 { return s.rec.id() }

func (s *struck) set(of map[string]bool, name string, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of[name] = is
}

func (s *struck) is(of map[string]bool, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return of[name]
}

// answers reports whether a replica answers a client, within a short time.
func (a *Arena) answers(r Replica) bool {
	ctx, cancel := context.WithTimeout(context.Background(), silence)
	defer cancel()
	var err error
	if a.lists {
		_, err = a.list(ctx, "probe", r, a.cfg.Keys[0])
	} else {
		_, err = a.put(ctx, "probe", r, a.cfg.Keys[0])
	}
	return err == nil
}

// listens reports whether something listens where a replica has to.
func listens(ctx context.Context, r Replica) bool {
	var d net.Dialer
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c, err := d.DialContext(ctx, "tcp", r.Listen[0])
	if err != nil {
		return false
	}
	_ = c.Close() // of a probe
	return true
}
