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

// What was written survives a crash, what was being written may, and
// compaction loses nothing of what is read back in the end.
func TestDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDisk(1, func(uint64) {})
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
		last, _ := s.Log.LastIndex()
		if last != 5 && last != 6 {
			t.Errorf("the log ends at %d", last)
		}
		if err := s.Log.DeleteRange(5, last); err != nil {
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

// Each fault of a disk bites while it stands, and no longer. A write that is
// cut short by a crash or fails is sometimes there, and sometimes not.
func TestFaultsOfADisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDisk(1, func(uint64) {})
		works := func(want bool) {
			t.Helper()
			if _, err := d.Probe(patience); (err == nil) != want {
				t.Fatalf("works: %v (%v), want %v", err == nil, err, want)
			}
		}
		works(true)
		for _, fault := range []func() func(){d.Fail, d.Hang} {
			one, two := fault(), fault()
			works(false)
			one()
			works(false)
			two()
			works(true)
		}
		heal := d.Slow(time.Second)
		if took, err := d.Probe(2 * time.Second); err != nil || took < time.Second {
			t.Errorf("a slow disk took %v, %v", took, err)
		}
		heal()
		works(true)
		for name, cut := range map[string]func(raft.LogStore, uint64) error{
			"crash": func(s raft.LogStore, i uint64) error {
				time.AfterFunc(syncTakes/2, d.Crash)
				return s.StoreLog(entry(i, 1))
			},
			"failure": func(s raft.LogStore, i uint64) error {
				defer d.Fail()()
				return s.StoreLog(entry(i, 1))
			},
		} {
			kept := d.keeps(t, cut)
			if kept == 0 || kept == 40 {
				t.Errorf("%s: %d of 40 writes are on the disk", name, kept)
			}
		}
	})
}

// keeps returns how many of forty writes that are cut short are on the disk.
func (d *Disk) keeps(t *testing.T, cut func(s raft.LogStore, index uint64) error) int {
	t.Helper()
	kept := 0
	for range 40 {
		s, err := d.Open(hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		before, _ := s.Log.LastIndex()
		if err := cut(s.Log, before+1); err == nil {
			t.Fatal("a write that was cut short succeeded")
		}
		d.Crash()
		if s, err = d.Open(hclog.NewNullLogger()); err != nil {
			t.Fatal(err)
		}
		after, _ := s.Log.LastIndex()
		kept += int(after - before)
		d.Crash()
	}
	return kept
}
