package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"example.com/tenure/examples/ledger/replica"
)

// A Load writes to a fleet and reads from it, and keeps a book of what was
// acknowledged.
type Load struct {
	fleet   *Fleet
	tenants []string
	stop    context.CancelFunc
	work    sync.WaitGroup

	acknowledged atomic.Int64
	longest      atomic.Int64 // in nanoseconds: from the first try to the acknowledgement

	mu    sync.Mutex
	book  map[string][]Ack // by tenant, in the order of the acknowledgements
	sent  map[string]int   // by writer: its highest number
	reads int
	stale []string // what reads lacked
}

// An Ack is an acknowledged entry.
type Ack struct {
	ID string
	replica.Acknowledgement
}

const (
	tryTime   = 2 * time.Second // for one try of one request: a frozen replica takes it and is silent
	retryWait = 50 * time.Millisecond
)

// Load starts writers, each of which appends one entry after the other to
// tenants that it draws, and a reader. Stop ends them.
func (f *Fleet) Load(writers int) *Load {
	ctx, stop := context.WithCancel(context.Background())
	l := &Load{fleet: f, tenants: replica.Tenants(f.cfg.Tenants), stop: stop, book: make(map[string][]Ack), sent: make(map[string]int)}
	for i := range writers {
		l.work.Go(func() { l.write(ctx, fmt.Sprintf("w%d", i+1)) })
	}
	l.work.Go(func() { l.read(ctx) })
	return l
}

// Stop ends the load. What was not acknowledged by then may be in the ledgers or
// not.
func (l *Load) Stop() {
	l.stop()
	l.work.Wait()
}

// Acknowledged returns how many entries were acknowledged.
func (l *Load) Acknowledged() int { return int(l.acknowledged.Load()) }

// Longest returns the longest time that an entry took from its first try to its
// acknowledgement.
func (l *Load) Longest() time.Duration { return time.Duration(l.longest.Load()) }

// write is one writer. It tries an entry under the same id until it is
// acknowledged, at one replica or another, before it goes on to the next.
func (l *Load) write(ctx context.Context, writer string) {
	for n := 1; ctx.Err() == nil; n++ {
		l.mu.Lock()
		l.sent[writer] = n
		l.mu.Unlock()
		tenant := l.tenants[rand.IntN(len(l.tenants))]
		entry := replica.Append{ID: entryID(writer, n), Text: fmt.Sprintf("entry %d of %s", n, writer)}
		first := time.Now()
		for ctx.Err() == nil {
			ack, err := l.tryAppend(ctx, tenant, entry)
			if err == nil {
				l.note(tenant, Ack{ID: entry.ID, Acknowledgement: ack}, time.Since(first))
				break
			}
			pause(ctx, retryWait)
		}
	}
}

func (l *Load) tryAppend(ctx context.Context, tenant string, entry replica.Append) (replica.Acknowledgement, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	return l.fleet.client.append(ctx, l.anyReplica(), tenant, entry)
}

func (l *Load) anyReplica() string {
	return l.fleet.cfg.Peers[rand.IntN(len(l.fleet.cfg.Peers))].HTTP
}

func (l *Load) note(tenant string, ack Ack, took time.Duration) {
	l.acknowledged.Add(1)
	for longest := l.longest.Load(); int64(took) > longest && !l.longest.CompareAndSwap(longest, int64(took)); {
		longest = l.longest.Load()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.book[tenant] = append(l.book[tenant], ack)
}

// read reads one ledger after the other. Each must have what was acknowledged
// before it was asked for.
func (l *Load) read(ctx context.Context) {
	for ctx.Err() == nil {
		tenant := l.tenants[rand.IntN(len(l.tenants))]
		before := l.acks(tenant)
		reading, err := l.tryRead(ctx, tenant)
		if err != nil {
			pause(ctx, retryWait)
			continue
		}
		missing := missing(before, reading.Entries)
		l.mu.Lock()
		l.reads++
		for _, m := range missing {
			l.stale = append(l.stale, fmt.Sprintf("%s, read from %s at epoch %d: %s", tenant, reading.Replica, reading.Epoch, m))
		}
		l.mu.Unlock()
	}
}

func (l *Load) tryRead(ctx context.Context, tenant string) (replica.Reading, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	return l.fleet.client.entries(ctx, l.anyReplica(), tenant)
}

func (l *Load) acks(tenant string) []Ack {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.book[tenant][:len(l.book[tenant]):len(l.book[tenant])]
}

func entryID(writer string, n int) string { return fmt.Sprintf("%s-%d", writer, n) }
