package virtual

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/tenure/node"
)

// diskName is what a node calls its disk.
const diskName = "virtual disk"

// A Disk is a node's disk: it keeps what was synced when the process that uses
// it crashes, keeps, tears or loses what was being written, and notes down every entry
// that was ever compacted away, so that the whole log can be read back. Faults
// make it fail, slow, or hang. It implements node.Storage.
type Disk struct {
	kept node.Storage

	mu       sync.Mutex
	rng      *rand.Rand
	ailing   ailment
	flip     *flip
	use      *use                // nil while nobody has it open
	applied  uint64              // of the newest snapshot that the node took itself
	entries  map[uint64]raft.Log // that it applied and deleted
	first    map[entryID]time.Time
	installs func(index uint64) // told of each snapshot that came from the leader
	fails    func()             // told of each write that fails
}

// NewDisk returns an empty disk that draws from a seed what becomes of a write
// that is cut short. installs is called for each snapshot that was installed,
// and fails for each write of a node that fails, from goroutines of the node.
func NewDisk(seed uint64, installs func(index uint64), fails func()) *Disk {
	return &Disk{
		kept: node.MemoryStorage(), rng: rand.New(rand.NewPCG(seed, 5)), entries: make(map[uint64]raft.Log), first: make(map[entryID]time.Time),
		installs: installs, fails: fails,
	}
}

// draw draws one of so many outcomes.
func (d *Disk) draw(outcomes int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.IntN(outcomes)
}

// Open implements node.Storage, for a process that never stands still.
func (d *Disk) Open(logger hclog.Logger) (node.Stores, error) { return d.open(logger, nil) }

func (d *Disk) open(logger hclog.Logger, still *standstill) (node.Stores, error) {
	stores, err := d.kept.Open(logger)
	if err != nil {
		return node.Stores{}, err
	}
	u := &use{disk: d, stores: stores, still: still, fails: d.fails, ended: make(chan struct{}), pending: make(map[*write]struct{})}
	d.mu.Lock()
	d.use = u
	d.mu.Unlock()
	return node.Stores{
		Log: diskLog{u, stores.Log}, Stable: diskStable{u, stores.Stable}, Snapshots: diskSnapshots{u, stores.Snapshots},
		Name: diskName, Close: u.close,
	}, nil
}

// uses returns how many processes have the disk open: one or none.
func (d *Disk) uses() int {
	d.mu.Lock()
	u := d.use
	d.mu.Unlock()
	if u == nil {
		return 0
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.stores.Close == nil {
		return 0
	}
	return 1
}

// Crash ends the opening at once. What is being written is on the disk, or a
// first part of it is, or nothing, and nothing else ever will be.
func (d *Disk) Crash() {
	d.mu.Lock()
	u := d.use
	d.use = nil
	d.mu.Unlock()
	if u != nil {
		u.cutShort()
		_ = u.close() // of memory
	}
}

// Committed calls f, in order, with every entry up to an index that the disk
// has, and with all that it ever had and that its node had applied before it
// deleted them.
func (d *Disk) Committed(upTo uint64, f func(raft.Log)) error {
	stores, err := d.kept.Open(hclog.NewNullLogger())
	if err != nil {
		return err
	}
	defer stores.Close()
	first, err := stores.Log.FirstIndex()
	if err != nil {
		return err
	}
	last, err := stores.Log.LastIndex()
	if err != nil {
		return err
	}
	for i := uint64(1); i <= max(last, d.applied); i++ {
		entry, compacted := d.entries[i]
		switch {
		case first > 0 && i >= first && i <= min(last, max(upTo, d.applied)):
			if err := stores.Log.GetLog(i, &entry); err != nil {
				return err
			}
		case !compacted:
			continue // it came in a snapshot, or nobody knows that it is committed
		}
		f(entry)
	}
	return nil
}

// An entryID names one entry: no two of one term have the same index.
type entryID struct{ index, term uint64 }

// noteFirst notes down when entries come to be stored for the first time.
func (d *Disk) noteFirst(entries []*raft.Log) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, entry := range entries {
		id := entryID{entry.Index, entry.Term}
		if _, known := d.first[id]; !known {
			d.first[id] = time.Now()
		}
	}
}

// storedAt returns when an entry first came to be stored, and whether it did.
func (d *Disk) storedAt(entry *raft.Log) (time.Time, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, known := d.first[entryID{entry.Index, entry.Term}]
	return at, known
}

type diskLog struct {
	use *use
	raft.LogStore
}

// StoreLog implements raft.LogStore.
func (l diskLog) StoreLog(entry *raft.Log) error { return l.StoreLogs([]*raft.Log{entry}) }

// StoreLogs implements raft.LogStore. One that is cut short may leave the first
// of the entries, as a log of segments does.
func (l diskLog) StoreLogs(entries []*raft.Log) error {
	l.use.disk.noteFirst(entries)
	steps := make([]func() error, len(entries))
	for i, entry := range entries {
		steps[i] = func() error { return l.LogStore.StoreLog(entry) }
	}
	return l.use.write(steps...)
}

// GetLog implements raft.LogStore.
func (l diskLog) GetLog(index uint64, entry *raft.Log) error {
	err := l.LogStore.GetLog(index, entry)
	if f := l.use.disk.flipped(inEntry); err == nil && f != nil && f.entry == index {
		f.inEntry(entry)
	}
	l.use.still.pass()
	return err
}

// DeleteRange implements raft.LogStore. What is deleted and was applied is noted
// down. A snapshot that came from the leader replaces entries of which nobody
// knows whether they were.
func (l diskLog) DeleteRange(from, to uint64) error {
	return l.use.write(func() error {
		l.note(from, to)
		return l.LogStore.DeleteRange(from, to)
	})
}

func (l diskLog) note(from, to uint64) {
	d := l.use.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := from; i <= min(to, d.applied); i++ {
		var entry raft.Log
		if l.LogStore.GetLog(i, &entry) == nil {
			d.entries[i] = entry
		}
	}
}

type diskStable struct {
	use *use
	raft.StableStore
}

// Set implements raft.StableStore.
func (s diskStable) Set(key, value []byte) error {
	return s.use.write(func() error { return s.StableStore.Set(key, value) })
}

// SetUint64 implements raft.StableStore.
func (s diskStable) SetUint64(key []byte, value uint64) error {
	return s.use.write(func() error { return s.StableStore.SetUint64(key, value) })
}

// Get implements raft.StableStore.
func (s diskStable) Get(key []byte) ([]byte, error) {
	value, err := s.StableStore.Get(key)
	if f := s.use.disk.flipped(inStable); err == nil && f != nil {
		value = f.bytes(value)
	}
	return value, err
}
