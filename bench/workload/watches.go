package workload

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"example.com/tenure"
	"example.com/tenure/bench/contender"
	"example.com/tenure/node"
)

// watched is how many watches are on the node.
const watched = 1000

// watches measures how many cycles a node in this process makes while nobody
// watches it, and while a thousand watches of keys of their own do, to which it
// tells all that the cycles do: with its log on the disk, and with no disk, where
// the processors are all that limits it, and telling takes its part of them.
func (b *Bench) watches(ctx context.Context) error {
	if len(b.only(contender.Tenure)) == 0 {
		return nil
	}
	for name, storage := range map[string]node.Storage{"watches": node.BoltStorage(filepath.Join(b.Dir, "watches")), "watches-no-disk": node.MemoryStorage()} {
		n, err := openOn(ctx, storage)
		if err != nil {
			return err
		}
		err = b.watchesOf(ctx, n, name)
		n.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Bench) watchesOf(ctx context.Context, n *node.Node, name string) error {
	c := &localCycler{node: n}
	for range b.Rounds {
		alone, err := run(ctx, c, 64, b.Cycle)
		if err != nil {
			return err
		}
		stop, err := watchAll(ctx, n)
		if err != nil {
			return err
		}
		beside, err := run(ctx, c, 64, b.Cycle)
		stop()
		if err != nil {
			return err
		}
		b.Results.Add(name+"/none", contender.Tenure, "1/s", alone.rate)
		b.Results.Add(name+"/1000", contender.Tenure, "1/s", beside.rate)
		b.Results.Add(name+"/1000/slower", contender.Tenure, "%", 100*(1-beside.rate/alone.rate))
		b.logf("%s: %.0f/s without, %.0f/s with %d of them", name, alone.rate, beside.rate, watched)
	}
	return nil
}

// watchAll opens watches of one key each, some of which are the cyclers'.
func watchAll(ctx context.Context, n *node.Node) (stop func(), err error) {
	var watches []*node.Watch
	var wg sync.WaitGroup
	stop = func() {
		for _, w := range watches {
			w.Close()
		}
		wg.Wait()
	}
	for i := range watched {
		w, err := n.Watch(node.WatchOptions{Key: fmt.Sprintf("local-%d", i)})
		if err != nil {
			stop()
			return nil, err
		}
		watches = append(watches, w)
		wg.Go(func() {
			for _, err := w.Next(ctx); err == nil; _, err = w.Next(ctx) {
			}
		})
	}
	return stop, nil
}

// A localCycler cycles on a node in this process.
type localCycler struct {
	node *node.Node
}

// Cycle implements [contender.Cycler].
func (c *localCycler) Cycle(ctx context.Context, worker int) error {
	key, id := fmt.Sprintf("local-%d", worker), strconv.FormatInt(time.Now().UnixNano(), 36)
	granted := c.node.Acquire(ctx, tenure.AcquireRequest{Owner: "local", Asks: []tenure.Ask{{Key: key, RequestID: id, TTL: time.Minute}}})[0]
	if granted.Err != nil {
		return granted.Err
	}
	ending := tenure.Ending{Key: key, Epoch: granted.Grant.Record.Epoch}
	return c.node.Release(ctx, tenure.ReleaseRequest{Owner: "local", Endings: []tenure.Ending{ending}})[0].Err
}

// Close implements [contender.Cycler].
func (c *localCycler) Close() error { return nil }
