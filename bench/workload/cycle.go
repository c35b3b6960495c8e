package workload

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/tenure/bench/cluster"
	"example.com/tenure/bench/contender"
)

// cycle measures acquire and release by 1, 64 and 256 workers of one client
// process.
func (b *Bench) cycle(ctx context.Context) error {
	var arena arena
	defer arena.close()
	systems := b.only(contender.Tenure, contender.TenureWAL, contender.Etcd, contender.EtcdOwnLease, contender.Redis)
	for _, system := range systems {
		err := arena.enter(ctx, b, system)
		if errors.Is(err, contender.ErrNoRedis) {
			b.logf("cycle: %v: it is left out", err)
			continue
		}
		if err != nil {
			return err
		}
	}
	for round := range b.Rounds {
		for _, workers := range b.Workers {
			for _, e := range arena.entrants {
				if err := b.cycleOnce(ctx, e, workers, round); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// An arena is the systems that take turns.
type arena struct {
	clusters map[string]*cluster.Cluster
	redis    *contender.RedisServer
	entrants []entrant
}

type entrant struct {
	system string
	cycler contender.Cycler
	home   *cluster.Cluster // nil for redis
}

// enter starts a system's servers, unless they run, and its client.
func (a *arena) enter(ctx context.Context, b *Bench, system string) error {
	addrs, home, err := a.serve(ctx, b, system)
	if err != nil {
		return err
	}
	cycler, err := contender.NewCycler(system, addrs)
	if err != nil {
		return err
	}
	a.entrants = append(a.entrants, entrant{system, cycler, home})
	return nil
}

func (a *arena) serve(ctx context.Context, b *Bench, system string) ([]string, *cluster.Cluster, error) {
	if system == contender.Redis {
		redis, err := contender.StartRedis(ctx, filepath.Join(b.Dir, "redis"))
		if err != nil {
			return nil, nil, err
		}
		a.redis = redis
		return []string{redis.Addr}, nil, nil
	}
	kind := kindOf(system)
	if a.clusters[kind] == nil {
		c, err := b.start(ctx, kind)
		if err != nil {
			return nil, nil, err
		}
		if a.clusters == nil {
			a.clusters = make(map[string]*cluster.Cluster)
		}
		a.clusters[kind] = c
	}
	addrs, err := leaderFirst(a.clusters[kind])
	return addrs, a.clusters[kind], err
}

func (a *arena) close() {
	for _, e := range a.entrants {
		_ = e.cycler.Close()
	}
	for _, c := range a.clusters {
		c.Close()
	}
	if a.redis != nil {
		a.redis.Close()
	}
}

// cycleOnce measures one system once.
func (b *Bench) cycleOnce(ctx context.Context, e entrant, workers, round int) error {
	name := fmt.Sprintf("cycle/%d", workers)
	if round == 0 && e.home != nil {
		if err := b.profile(e.home, fmt.Sprintf("cycle-%d", workers)); err != nil {
			return err
		}
	}
	before, err := usedBy(e.home)
	if err != nil {
		return err
	}
	began := time.Now()
	lap, err := run(ctx, e.cycler, workers, b.Cycle)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", name, e.system, err)
	}
	used, err := usedBy(e.home)
	if err != nil {
		return err
	}
	b.logf("%s round %d: %-14s %8.0f/s  p50 %v  p99 %v  servers use %.2f cores", name, round+1, e.system, lap.rate,
		lap.p50.Round(10*time.Microsecond), lap.p99.Round(10*time.Microsecond), (used-before).Seconds()/time.Since(began).Seconds())
	b.Results.Add(name+"/failed", e.system, "cycles", float64(lap.failed))
	b.Results.Add(name, e.system, "1/s", lap.rate)
	b.Results.Add(name+"/p50", e.system, "ms", milliseconds(lap.p50))
	b.Results.Add(name+"/p99", e.system, "ms", milliseconds(lap.p99))
	return nil
}

func usedBy(c *cluster.Cluster) (time.Duration, error) {
	if c == nil {
		return 0, nil
	}
	return c.CPU()
}

// A lap is what one run of cycles gave.
type lap struct {
	rate     float64 // cycles a second
	p50, p99 time.Duration
	failed   int // cycles, as when a change of leader leaves their outcome unknown
}

// failedMost is how many cycles of one run may fail.
const failedMost = 1000

// run has workers make cycles for so long, after a quarter of that to warm up.
func run(ctx context.Context, c contender.Cycler, workers int, d time.Duration) (lap, error) {
	var counts, over atomic.Bool
	var failed atomic.Int64
	var failure atomic.Pointer[error]
	var wg sync.WaitGroup
	took := make([][]time.Duration, workers)
	for w := range workers {
		wg.Go(func() {
			for !over.Load() && failed.Load() < failedMost {
				counted, began := counts.Load(), time.Now()
				if err := c.Cycle(ctx, w); err != nil {
					failed.Add(1)
					failure.Store(&err)
				} else if counted && !over.Load() {
					took[w] = append(took[w], time.Since(began))
				}
			}
		})
	}
	time.Sleep(d / 4)
	counts.Store(true)
	began := time.Now()
	time.Sleep(d)
	over.Store(true)
	elapsed := time.Since(began)
	wg.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	l := lap{rate: float64(len(all)) / elapsed.Seconds(), p50: quantile(all, 0.5), p99: quantile(all, 0.99), failed: int(failed.Load())}
	if err := failure.Load(); err != nil && l.failed >= failedMost {
		return l, *err
	}
	return l, ctx.Err()
}

// quantile returns the value below which a part of the sorted ones are, 0 if
// there are none.
func quantile(sorted []time.Duration, part float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
