package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/nemesis"
	"example.com/tenure/jepsen-lite/plan"
)

// awaitServing blocks until each key has taken a write, through whatever
// replica.
func (a *Arena) awaitServing(ctx context.Context) error {
	errs := a.eachKey(ctx, func(ctx context.Context, r Replica, key string) error {
		_, err := a.put(ctx, "start", r, key)
		return err
	})
	a.epochs = a.rec.tellsEpochs()
	return first(errs, "write")
}

// eachKey does something for all keys at the same time, for each through one
// replica after the other until it succeeds or ctx ends, and returns what it
// came to for each key. What is not supported is not tried again.
func (a *Arena) eachKey(ctx context.Context, do func(context.Context, Replica, string) error) []error {
	errs := make([]error, len(a.cfg.Keys))
	var keys sync.WaitGroup
	for i, key := range a.cfg.Keys {
		keys.Go(func() {
			for try := i; ; try++ {
				r := a.replicas[try%len(a.replicas)]
				err := do(ctx, r, key)
				if err == nil {
					return
				}
				if errors.Is(err, errors.ErrUnsupported) || !sleep(ctx, retryWait) {
					errs[i] = fmt.Errorf("%s through %s: %w", key, r.Name, err)
					return
				}
			}
		})
	}
	keys.Wait()
	return errs
}

// first returns the first of errors, nil if there is none.
func first(errs []error, verb string) error {
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("%s %w", verb, err)
		}
	}
	return nil
}

// explore finds out what the fleet can do.
func (a *Arena) explore(ctx context.Context) error {
	if err := a.exploreReads(ctx); err != nil {
		return err
	}
	for _, kind := range a.cfg.Kinds {
		why, err := a.can(ctx, kind)
		switch {
		case err != nil:
			return fmt.Errorf("try a %s: %w", kind, err)
		case why != "":
			a.off[kind] = why
		default:
			a.kinds = append(a.kinds, kind)
		}
	}
	return nil
}

func (a *Arena) exploreReads(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Start)
	defer cancel()
	err := first(a.eachKey(ctx, func(ctx context.Context, r Replica, key string) error {
		_, err := a.list(ctx, "start", r, key)
		return err
	}), "read")
	switch {
	case err == nil:
		a.lists = true
	case !errors.Is(err, errors.ErrUnsupported):
		return err
	case !a.epochs:
		return errors.New("the fleet tells neither the epochs of its acknowledgements nor what it has: there is nothing to judge")
	}
	return nil
}

// can returns why the fleet can't take faults of a kind, "" if it can. What is
// done to a replica is tried out on the last one.
func (a *Arena) can(ctx context.Context, kind string) (why string, err error) {
	s, last := newStruck(a), a.replicas[len(a.replicas)-1].Name
	switch {
	case kind == plan.Kill:
		return a.try(ctx, kind, s.Kill, s.Start, func() error { return shows(ctx, s, last, nemesis.Gone) })
	case kind == plan.Pause:
		return a.try(ctx, kind, s.Pause, s.Resume, func() error { return shows(ctx, s, last, nemesis.Stopped) })
	case len(a.replicas) == 1:
		return "a single replica has no links", nil
	case a.relays.Made() == 0:
		return "no replica has dialed an address of Peer.Dial, where faults would strike", nil
	}
	return "", nil
}

func (a *Arena) try(ctx context.Context, kind string, strike, heal func(context.Context, string) error, probe func() error) (why string, err error) {
	last := a.replicas[len(a.replicas)-1].Name
	if err := strike(ctx, last); errors.Is(err, errors.ErrUnsupported) {
		return fmt.Sprintf("the adapter says that it can't: %v", err), nil
	} else if err != nil {
		return "", err
	}
	return "", errors.Join(probe(), heal(ctx, last))
}

// settling is how long a replica may take to be as it was made to be.
const settling = 10 * time.Second

// shows reports a replica that does not come to do what it should.
func shows(ctx context.Context, s *struck, name string, want nemesis.State) error {
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	for {
		got, err := s.State(name)
		if err != nil || got == want {
			return err
		}
		if !sleep(ctx, retryWait) {
			return fmt.Errorf("%s is %v where it must be %v", name, got, want)
		}
	}
}
