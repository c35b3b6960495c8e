package storage

import (
	"io"
	"testing"

	"github.com/hashicorp/raft"
)

// bothStorages are the storages of this package, empty.
func bothStorages(t *testing.T) map[string]Storage {
	return map[string]Storage{"memory": Memory(), "bolt": Bolt(quickDir(t))}
}

// What was stored is there when the storage is opened again.
func TestReopen(t *testing.T) {
	for name, storage := range bothStorages(t) {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, storage)
			fill(t, g.ForNode(), 30)
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			g = newGuarded(t, storage)
			if err := g.Check(); err != nil {
				t.Error(err)
			}
			expectFill(t, g.ForNode(), 30)
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// fill stores what a node has after a while: a term, a vote, a snapshot up to
// entry last-10, and the entries from last-20 to last.
func fill(t *testing.T, s Stores, last uint64) {
	t.Helper()
	write := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write(s.Stable.SetUint64(keyCurrentTerm, 3))
	write(s.Stable.SetUint64([]byte("LastVoteTerm"), 3))
	write(s.Stable.Set([]byte("LastVoteCand"), []byte("n2")))
	configuration := testConfiguration
	write(s.Log.StoreLog(&raft.Log{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(configuration)}))
	write(s.Log.StoreLogs(commands(2, last, 3)))
	sink, err := s.Snapshots.Create(1, last-10, 3, configuration, 1, nopTransport)
	write(err)
	_, err = sink.Write([]byte("state"))
	write(err)
	write(sink.Close())
	write(sink.Close()) // Raft closes it again after its Persist did
	write(s.Log.DeleteRange(1, last-21))
}

// expectFill reads all that fill stored.
func expectFill(t *testing.T, s Stores, last uint64) {
	t.Helper()
	if term, err := s.Stable.GetUint64(keyCurrentTerm); term != 3 || err != nil {
		t.Errorf("term %d, %v", term, err)
	}
	if vote, err := s.Stable.Get([]byte("LastVoteCand")); string(vote) != "n2" || err != nil {
		t.Errorf("vote %q, %v", vote, err)
	}
	first, err1 := s.Log.FirstIndex()
	newest, err2 := s.Log.LastIndex()
	if first != last-20 || newest != last || err1 != nil || err2 != nil {
		t.Errorf("entries %d to %d, %v, %v", first, newest, err1, err2)
	}
	for index := last - 20; index <= last; index++ {
		var log raft.Log
		if err := s.Log.GetLog(index, &log); err != nil || string(log.Data) != string(testEntry(int64(index))) || log.Term != 3 {
			t.Errorf("entry %d: %v, %v", index, log, err)
		}
	}
	metas, err := s.Snapshots.List()
	if err != nil || len(metas) != 1 || metas[0].Index != last-10 {
		t.Fatalf("snapshots %v, %v", metas, err)
	}
	meta, source, err := s.Snapshots.Open(metas[0].ID)
	if err != nil || meta.Size != 5 || meta.Configuration.Servers[0].Address != "n1:7400" {
		t.Fatalf("snapshot %v, %v", meta, err)
	}
	if state, err := io.ReadAll(source); string(state) != "state" || err != nil {
		t.Errorf("snapshot %q, %v", state, err)
	}
	if err := source.Close(); err != nil {
		t.Error(err)
	}
}
