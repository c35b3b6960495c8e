package virtual

import (
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/tenure/node"
)

// A Disk is a node's disk: it keeps what was synced when the process that uses
// it crashes, keeps or loses what was being written, and notes down every entry
// that was ever compacted away, so that the whole log can be read back. Faults
// make it fail, slow, or hang. It implements node.Storage.
type Disk struct {
	kept node.Storage

	mu       sync.Mutex
	rng      *rand.Rand
	ailing   ailment
	use      *use // nil while nobody has it open
	entries  map[uint64]raft.Log
	installs func(index uint64) // told of each snapshot that came from the leader
}

// NewDisk returns an empty disk that draws from a seed what becomes of a write
// that is cut short. installs is called, from a goroutine of the node, for each
// snapshot that was installed.
func NewDisk(seed uint64, installs func(index uint64)) *Disk {
	return &Disk{
		kept: node.MemoryStorage(), rng: rand.New(rand.NewPCG(seed, 5)), entries: make(map[uint64]raft.Log), installs: installs,
	}
}

// Open implements node.Storage.
func (d *Disk) Open(logger hclog.Logger) (node.Stores, error) {
	stores, err := d.kept.Open(logger)
	if err != nil {
		return node.Stores{}, err
	}
	u := &use{disk: d, stores: stores, ended: make(chan struct{}), pending: make(map[*write]struct{})}
	d.mu.Lock()
	d.use = u
	d.mu.Unlock()
	return node.Stores{
		Log: diskLog{u, stores.Log}, Stable: diskStable{u, stores.Stable}, Snapshots: diskSnapshots{u, stores.Snapshots},
		Name: "virtual disk", Close: u.close,
	}, nil
}

// Crash ends the opening at once. What is being written is on the disk or not,
// and nothing else ever will be.
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

// Entries calls f with every entry that the disk ever had and that was not
// written over, in order.
func (d *Disk) Entries(f func(raft.Log)) error {
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
	for i := uint64(1); i <= last; i++ {
		entry, compacted := d.entries[i]
		if i >= first && first > 0 {
			if err := stores.Log.GetLog(i, &entry); err != nil {
				return err
			}
		} else if !compacted {
			continue // it came in a snapshot
		}
		f(entry)
	}
	return nil
}

type diskLog struct {
	use *use
	raft.LogStore
}

// StoreLog implements raft.LogStore.
func (l diskLog) StoreLog(entry *raft.Log) error { return l.StoreLogs([]*raft.Log{entry}) }

// StoreLogs implements raft.LogStore.
func (l diskLog) StoreLogs(entries []*raft.Log) error {
	return l.use.write(func() error { return l.LogStore.StoreLogs(entries) })
}

// DeleteRange implements raft.LogStore. What is deleted from the front was
// committed, and is noted down.
func (l diskLog) DeleteRange(from, to uint64) error {
	return l.use.write(func() error {
		if first, err := l.LogStore.FirstIndex(); err == nil && from == first {
			l.note(from, to)
		}
		return l.LogStore.DeleteRange(from, to)
	})
}

func (l diskLog) note(from, to uint64) {
	d := l.use.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := from; i <= to; i++ {
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

type diskSnapshots struct {
	use *use
	raft.SnapshotStore
}

// Create implements raft.SnapshotStore.
func (s diskSnapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration, configurationIndex uint64, trans raft.Transport) (raft.SnapshotSink, error) {
	if err := s.use.write(nil); err != nil {
		return nil, err
	}
	sink, err := s.SnapshotStore.Create(version, index, term, configuration, configurationIndex, trans)
	if err != nil {
		return nil, err
	}
	last, err := s.use.stores.Log.LastIndex()
	if err != nil {
		return nil, errors.Join(err, sink.Cancel())
	}
	return diskSink{sink, s.use, index, last < index}, nil
}

type diskSink struct {
	raft.SnapshotSink
	use       *use
	index     uint64
	installed bool // it is ahead of the log: it came from the leader
}

// Close implements raft.SnapshotSink.
func (s diskSink) Close() error {
	if err := s.use.write(nil); err != nil {
		return errors.Join(err, s.SnapshotSink.Cancel())
	}
	err := s.SnapshotSink.Close()
	if err == nil && s.installed {
		s.use.disk.installs(s.index)
	}
	return err
}
