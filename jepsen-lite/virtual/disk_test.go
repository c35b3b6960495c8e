package virtual

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

func entry(index, term uint64) *raft.Log {
	return &raft.Log{Index: index, Term: term, Type: raft.LogCommand, Data: []byte{byte(index)}}
}

// What was written survives a crash, what was being written does not, and
// compaction loses nothing of what is read back in the end.
func TestDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDisk(func(uint64) {})
		s, err := d.Open(hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		for i := uint64(1); i <= 5; i++ {
			if err := s.Log.StoreLog(entry(i, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Log.DeleteRange(1, 3); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(syncTakes/2, d.Crash)
		if err := s.Log.StoreLog(entry(6, 1)); !errors.Is(err, errCrashed) {
			t.Errorf("a write during a crash: %v", err)
		}
		if err := s.Stable.SetUint64([]byte("term"), 2); !errors.Is(err, errCrashed) {
			t.Errorf("a write after a crash: %v", err)
		}
		s, err = d.Open(hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		if first, _ := s.Log.FirstIndex(); first != 4 {
			t.Errorf("the log starts at %d", first)
		}
		if err := s.Log.DeleteRange(5, 5); err != nil {
			t.Fatal(err)
		}
		if err := s.Log.StoreLog(entry(5, 2)); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		var terms []uint64
		if err := d.Entries(func(e raft.Log) { terms = append(terms, e.Term) }); err != nil {
			t.Fatal(err)
		}
		if len(terms) != 5 || terms[0] != 1 || terms[4] != 2 {
			t.Errorf("read back: terms %v", terms)
		}
	})
}
