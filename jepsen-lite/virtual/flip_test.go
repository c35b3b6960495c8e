package virtual

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// contents reads all that a disk has.
func contents(t *testing.T, d *Disk) []any {
	t.Helper()
	s, err := d.Open(hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var all []any
	for i := uint64(1); i <= 3; i++ {
		var e raft.Log
		if err := s.Log.GetLog(i, &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	value, err := s.Stable.Get([]byte("vote"))
	if err != nil {
		t.Fatal(err)
	}
	metas, err := s.Snapshots.List()
	if err != nil {
		t.Fatal(err)
	}
	meta, content, err := s.Snapshots.Open(metas[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	return append(all, value, *meta, b)
}

func filled(t *testing.T, seed uint64) *Disk {
	t.Helper()
	d := NewDisk(seed, func(uint64) {}, func() {})
	s, err := d.Open(hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	entries := []*raft.Log{entry(1, 1), entry(2, 1), entry(3, 1)}
	for _, e := range entries {
		e.Extensions = []byte("sealed")
	}
	err = errors.Join(s.Log.StoreLogs(entries), s.Stable.Set([]byte("vote"), []byte("for me")))
	sink, created := s.Snapshots.Create(1, 2, 1, raft.Configuration{}, 1, nil)
	if err = errors.Join(err, created); err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(sink, bytes.NewReader(make([]byte, 1000)))
	if err = errors.Join(err, sink.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	return d
}

// One bit flips, in each part of what a disk keeps, shows in what is read, and
// is gone when it is flipped back.
func TestFlip(t *testing.T) {
	parts := make(map[part]int)
	for seed := range uint64(100) {
		d := filled(t, seed)
		before := contents(t, d)
		of, back, err := d.Flip()
		if err != nil {
			t.Fatal(err)
		}
		parts[of]++
		differ := 0
		for i, was := range contents(t, d) {
			if !reflect.DeepEqual(was, before[i]) {
				differ++
			}
		}
		if differ != 1 {
			t.Errorf("seed %d: %d parts differ after a bit of %s flipped", seed, differ, of)
		}
		back()
		if !reflect.DeepEqual(contents(t, d), before) {
			t.Errorf("seed %d: it was not flipped back", seed)
		}
	}
	if of, _, err := NewDisk(1, func(uint64) {}, func() {}).Flip(); of != "" || err != nil {
		t.Errorf("a bit of %q of an empty disk flips, %v", of, err)
	}
	for _, of := range []part{inEntry, inStable, inSnapshot} {
		if parts[of] == 0 {
			t.Errorf("no bit flips in %s", of)
		}
	}
}
