package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Faults says what is done to the replicas.
type Faults struct {
	Kill   bool // kill -9, and a restart
	Freeze bool // SIGSTOP for longer than a TTL, and SIGCONT
	Log    func(format string, args ...any)
}

// recoverTime is how long a fleet may take until it serves again after a fault.
const recoverTime = 60 * time.Second

// Disturb kills or freezes one replica after the other, drawn at random, until
// ctx ends, and returns how often. The fleet serves again before the next one,
// so that a majority of nodes is there most of the time; half of the time
// nobody waits for that. An error says that the fleet did not come back.
func (f *Fleet) Disturb(ctx context.Context, faults Faults) (int, error) {
	count := 0
	for ctx.Err() == nil {
		i := rand.IntN(len(f.cfg.Peers))
		count++
		if err := f.disturb(ctx, i, faults); err != nil {
			return count, err
		}
		if rand.IntN(2) == 0 {
			continue
		}
		if err := f.settle(); err != nil {
			return count, err
		}
		pause(ctx, time.Duration(rand.Int64N(int64(f.cfg.TTL))))
	}
	return count, f.settle()
}

func (f *Fleet) disturb(ctx context.Context, i int, faults Faults) error {
	if faults.Freeze && (!faults.Kill || rand.IntN(2) == 0) {
		d := f.cfg.TTL + time.Duration(rand.Int64N(int64(f.cfg.TTL)))
		faults.Log("%s (pid %d) is frozen for %v", f.cfg.Peers[i].ID, f.Pid(i), d.Round(time.Millisecond))
		return f.Freeze(ctx, i, d)
	}
	down := time.Duration(rand.Int64N(int64(f.cfg.TTL)))
	faults.Log("%s (pid %d) is killed, and comes back in %v", f.cfg.Peers[i].ID, f.Pid(i), down.Round(time.Millisecond))
	f.Kill(i)
	pause(ctx, down)
	return f.Restart(i)
}

func (f *Fleet) settle() error {
	ctx, cancel := context.WithTimeout(context.Background(), recoverTime)
	defer cancel()
	if err := f.AwaitServing(ctx); err != nil {
		return fmt.Errorf("%v after the last fault: %w", recoverTime, err)
	}
	return nil
}
