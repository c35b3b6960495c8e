package virtual

import (
	"errors"
	"syscall"
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
		d := NewDisk(1, func(uint64) {}, func() {})
		s, err := d.Open(hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		for i := uint64(1); i <= 5; i++ {
			if err := s.Log.StoreLog(entry(i, 1)); err != nil {
				t.Fatal(err)
			}
		}
		d.took(3)
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
		if err := d.Committed(5, func(e raft.Log) { terms = append(terms, e.Term) }); err != nil {
			t.Fatal(err)
		}
		if len(terms) != 5 || terms[0] != 1 || terms[4] != 2 {
			t.Errorf("read back: terms %v", terms)
		}
	})
}

// Each fault of a disk bites while it stands, and no longer. Of a write that is
// cut short by a crash or fails, any first part may be there.
func TestFaultsOfADisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDisk(1, func(uint64) {}, func() {})
		works := func(want error) {
			t.Helper()
			if err := d.Probe(); err != nil {
				t.Fatal(err)
			}
			if _, err := d.try(probeWaits); !errors.Is(err, want) {
				t.Fatalf("a write ends with %v, want %v", err, want)
			}
		}
		works(nil)
		for _, fault := range []struct {
			take func() func()
			want error
		}{{d.Fail, errDisk}, {d.Fill, syscall.ENOSPC}, {d.Hang, errCrashed}} {
			one, two := fault.take(), fault.take()
			works(fault.want)
			one()
			works(fault.want)
			two()
			works(nil)
		}
		heal := d.Slow(time.Second)
		if took, err := d.try(2 * time.Second); err != nil || took < time.Second {
			t.Errorf("a slow disk took %v, %v", took, err)
		}
		heal()
		works(nil)
		for name, cut := range map[string]func(raft.LogStore, uint64) error{
			"crash": func(s raft.LogStore, i uint64) error {
				crashed := make(chan struct{})
				time.AfterFunc(syncTakes/2, func() { d.Crash(); close(crashed) })
				err := s.StoreLogs([]*raft.Log{entry(i, 1), entry(i+1, 1), entry(i+2, 1)})
				<-crashed // the write ends first, and the disk is let go a moment later
				return err
			},
			"failure": func(s raft.LogStore, i uint64) error {
				defer d.Fail()()
				return s.StoreLogs([]*raft.Log{entry(i, 1), entry(i+1, 1), entry(i+2, 1)})
			},
		} {
			kept := d.keeps(t, cut)
			for n := range 4 {
				if kept[n] == 0 {
					t.Errorf("%s: %d of 3 entries are never on the disk", name, n)
				}
			}
		}
	})
}

// keeps returns how often how many entries of a write that is cut short are on
// the disk.
func (d *Disk) keeps(t *testing.T, cut func(s raft.LogStore, index uint64) error) map[int]int {
	t.Helper()
	kept := make(map[int]int)
	for range 80 {
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
		kept[int(after-before)]++
		d.Crash()
	}
	return kept
}
