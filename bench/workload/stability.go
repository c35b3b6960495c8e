package workload

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"example.com/tenure/bench/cluster"
	"example.com/tenure/bench/contender"
)

// stabilityRounds is how many rounds of cycles the disturbance lasts.
const stabilityRounds = 10

// stability counts the changes of leader on a machine whose cores are all busy
// with something else and whose disk is made to stall by large synced writes,
// while 64 workers make cycles. Short failovers are worth nothing if a leader
// loses its place whenever the disk is slow.
func (b *Bench) stability(ctx context.Context) error {
	for _, system := range b.only(contender.Tenure, contender.TenureWAL, contender.Etcd) {
		var a arena
		err := a.enter(ctx, b, system)
		if err == nil {
			err = b.disturb(ctx, a.entrants[0])
		}
		a.close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Bench) disturb(ctx context.Context, e entrant) error {
	before, err := term(e.home)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for ctx.Err() == nil { // a busy core
			}
		})
	}
	wg.Go(func() { writeMuch(ctx, filepath.Join(b.Dir, "noise")) })
	var last lap
	for range stabilityRounds {
		if last, err = run(ctx, e.cycler, 64, b.Cycle); err != nil {
			break
		}
		b.Results.Add("stability/p99", e.system, "ms", milliseconds(last.p99))
	}
	stop()
	wg.Wait()
	if err != nil {
		return err
	}
	after, err := term(e.home)
	b.Results.Add("stability/changes-of-leader", e.system, "changes", float64(after-before))
	b.logf("stability: %s changed its leader %d times; %.0f/s at the end", e.system, after-before, last.rate)
	return err
}

func term(c *cluster.Cluster) (newest uint64, err error) {
	states, err := c.States(false)
	for _, st := range states {
		newest = max(newest, st.Term)
	}
	return newest, err
}

// writeMuch writes 32 MiB again and again, and syncs them.
func writeMuch(ctx context.Context, path string) {
	defer os.Remove(path)
	block := make([]byte, 32<<20)
	for ctx.Err() == nil {
		file, err := os.Create(path)
		if err != nil {
			return
		}
		_, _ = file.Write(block)
		_ = file.Sync()
		_ = file.Close()
		time.Sleep(50 * time.Millisecond)
	}
}
