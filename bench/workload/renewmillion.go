package workload

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"example.com/tenure/bench/cluster"
	"example.com/tenure/bench/contender"
)

// renewMillion holds a million leases with a TTL of ten seconds by a hundred
// holders, and counts what is lost. Meanwhile another client acquires and
// releases a key of its own all the time. Then it doubles the number until some
// are lost.
func (b *Bench) renewMillion(ctx context.Context) error {
	// This process stands for a hundred, none of which has a heap like this.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	for _, system := range b.only(contender.Tenure, contender.TenureWAL) {
		held, err := b.hold(ctx, system, b.Million, b.Hold, true)
		if err != nil {
			return err
		}
		highest := 0
		if held {
			highest = b.Million
		}
		for n := 2 * b.Million; held && b.Doubled > 0; n *= 2 {
			if held, err = b.hold(ctx, system, n, b.Doubled, false); err != nil {
				b.logf("renew: %s does not get to hold %d leases: %v", system, n, err)
				break
			}
			if held {
				highest = n
			}
		}
		b.Results.Add("renew/1m/highest", system, "leases", float64(highest))
	}
	return nil
}

// hold holds n leases for so long and reports whether none was lost or fenced.
func (b *Bench) hold(ctx context.Context, system string, n int, d time.Duration, record bool) (bool, error) {
	c, err := b.start(ctx, kindOf(system))
	if err != nil {
		return false, err
	}
	defer c.Close()
	w, err := hire(ctx, c, b.Holders, n)
	if err != nil {
		return false, fmt.Errorf("%s: %d leases: %w", system, n, err)
	}
	defer w.dismiss()
	time.Sleep(renewTTL / 2)
	if err := b.profile(c, fmt.Sprintf("renew-%d", n)); err != nil {
		return false, err
	}
	m, err := watchOver(ctx, c, w, d)
	if err != nil {
		return false, err
	}
	b.logf("renew: %s, %d leases for %v: %d lost, %d fenced, servers use %.2f cores, at most %.0f MB on a disk, %.1f MB/s written, acquires p99 %v",
		system, n, d, m.lost, m.fenced, m.cores, m.disk, m.written, m.p99.Round(100*time.Microsecond))
	if m.why != nil {
		b.logf("renew: one was lost because of: %v", m.why)
	}
	if record {
		m.add(b, system)
	}
	return m.lost+m.fenced == 0, nil
}

// A vigil is what was seen of servers whose leases were held.
type vigil struct {
	tally
	cores    float64 // of all servers together
	disk     float64 // most MB of files of a server at any moment
	written  float64 // MB/s that a server had written
	changes  uint64  // of the leader
	p50, p99 time.Duration
}

func (m *vigil) add(b *Bench, system string) {
	b.Results.Add("renew/1m/lost", system, "leases lost", float64(m.lost))
	b.Results.Add("renew/1m/fenced", system, "leases fenced", float64(m.fenced))
	b.Results.Add("renew/1m/cores", system, "cores", m.cores)
	b.Results.Add("renew/1m/disk", system, "MB", m.disk)
	b.Results.Add("renew/1m/written", system, "MB/s", m.written)
	b.Results.Add("renew/1m/changes-of-leader", system, "changes", float64(m.changes))
	b.Results.Add("renew/1m/acquire-p50", system, "ms", milliseconds(m.p50))
	b.Results.Add("renew/1m/acquire-p99", system, "ms", milliseconds(m.p99))
}

// Between two looks at the servers, and between two acquires.
const (
	lookEvery    = 5 * time.Second
	acquireEvery = 20 * time.Millisecond
)

// watchOver looks at servers and leases for so long.
func watchOver(ctx context.Context, c *cluster.Cluster, w *crew, d time.Duration) (m vigil, err error) {
	stop := make(chan struct{})
	took, used := make(chan []time.Duration, 1), make(chan tally, 1)
	go func() { took <- acquireAll(ctx, c, stop) }()
	go func() { used <- w.use(stop) }()
	before, err := c.States(false)
	began := time.Now()
	for err == nil && time.Since(began) < d {
		time.Sleep(min(lookEvery, d-time.Since(began)))
		var now []cluster.State
		if now, err = c.States(false); err == nil {
			m.look(before, now, time.Since(began))
		}
	}
	close(stop)
	acquires := <-took
	m.tally = <-used
	slices.Sort(acquires)
	m.p50, m.p99 = quantile(acquires, 0.5), quantile(acquires, 0.99)
	return m, err
}

func (m *vigil) look(before, now []cluster.State, passed time.Duration) {
	m.cores, m.written = 0, 0
	for i := range now {
		m.cores += float64(now[i].CPU-before[i].CPU) / float64(passed)
		m.disk = max(m.disk, float64(now[i].Disk)/1e6)
		m.written = max(m.written, float64(now[i].Written-before[i].Written)/1e6/passed.Seconds())
		m.changes = max(m.changes, now[i].Term-before[i].Term)
	}
}

// acquireAll acquires and releases a key until it is stopped, and returns how
// long the acquires took.
func acquireAll(ctx context.Context, c *cluster.Cluster, stop <-chan struct{}) (took []time.Duration) {
	h, err := newHand(c)
	if err != nil {
		return nil
	}
	defer h.client.Close()
	for {
		select {
		case <-stop:
			return took
		case <-time.After(acquireEvery):
		}
		began := time.Now()
		g, err := h.acquire(ctx, "beside", time.Minute, 0)
		if err != nil {
			return append(took, time.Hour) // can't be overlooked
		}
		took = append(took, time.Since(began))
		if err := h.release(ctx, g); err != nil {
			return append(took, time.Hour)
		}
	}
}
