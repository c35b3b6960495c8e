package process

import (
	"os"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/tenure/node"
)

// used opens a disk, and closes it after f.
func used(t *testing.T, d disk, f func(log raft.LogStore, snapshots raft.SnapshotStore)) {
	t.Helper()
	stores, err := d.Open(hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	f(stores.Log, stores.Snapshots)
	if err := stores.Close(); err != nil {
		t.Fatal(err)
	}
}

func store(t *testing.T, log raft.LogStore, term, from, to uint64) {
	t.Helper()
	for i := from; i <= to; i++ {
		if err := log.StoreLog(&raft.Log{Index: i, Term: term, Data: []byte{byte(i)}}); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(t *testing.T, log raft.LogStore, from, to uint64) {
	t.Helper()
	if err := log.DeleteRange(from, to); err != nil {
		t.Fatal(err)
	}
}

// terms returns the highest term of each entry that the disk ever had.
func terms(t *testing.T, d disk) map[uint64]uint64 {
	t.Helper()
	found := make(map[uint64]uint64)
	err := d.entries(func(e raft.Log) {
		if len(e.Data) != 1 || e.Data[0] != byte(e.Index) {
			t.Errorf("entry %d has %v", e.Index, e.Data)
		}
		found[e.Index] = max(found[e.Index], e.Term)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// What was compacted away is still told, what was overwritten is not, and a
// line that a kill has torn does no harm.
func TestEntries(t *testing.T) {
	d := newDisk(node.MemoryStorage(), t.TempDir())
	used(t, d, func(log raft.LogStore, _ raft.SnapshotStore) {
		store(t, log, 1, 1, 10)
		remove(t, log, 9, 10)
		store(t, log, 2, 9, 10)
		remove(t, log, 1, 4)
	})
	f, err := os.OpenFile(d.archive(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"Index":5,"Te`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	used(t, d, func(log raft.LogStore, _ raft.SnapshotStore) { remove(t, log, 5, 7) })
	got := terms(t, d)
	for i := uint64(1); i <= 10; i++ {
		if want := 1 + i/9; got[i] != want {
			t.Errorf("entry %d is of term %d, want %d", i, got[i], want)
		}
	}
	if len(got) != 10 {
		t.Errorf("%d entries", len(got))
	}
}

// A snapshot that came from the leader is told of, and what it stands for need
// not have been committed on this disk.
func TestInstalled(t *testing.T) {
	var installed []uint64
	d := newDisk(node.MemoryStorage(), t.TempDir())
	d.installs = func(index uint64) { installed = append(installed, index) }
	used(t, d, func(log raft.LogStore, snapshots raft.SnapshotStore) {
		store(t, log, 1, 1, 10)
		for _, index := range []uint64{5, 20} {
			sink, err := snapshots.Create(raft.SnapshotVersionMax, index, 2, raft.Configuration{}, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := sink.Close(); err != nil {
				t.Fatal(err)
			}
		}
		remove(t, log, 1, 10)
		store(t, log, 2, 21, 30)
		remove(t, log, 21, 25)
	})
	if len(installed) != 1 || installed[0] != 20 {
		t.Errorf("installed: %v, want only what was ahead of the log", installed)
	}
	got := terms(t, d)
	if len(got) != 10 || got[21] != 2 || got[30] != 2 {
		t.Errorf("entries %v, want 21 to 30", got)
	}
}
