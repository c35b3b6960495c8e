package raftwal

import (
	"errors"
	"os"
	"testing"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"
)

// The log does what a plain slice does: it takes entries at its end, loses them
// at either end, and forgets nothing when it is closed.
func TestLogIsASlice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "raftwal")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		m := &model{log: openLog(t, dir), dir: dir}
		defer func() { m.log.close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"":         func(*rapid.T) { m.check() },
			"append":   m.append,
			"drop":     m.dropFirst,
			"truncate": m.truncate,
			"reopen":   func(*rapid.T) { m.log.close(); m.log = openLog(t, dir) },
		})
	})
}

// A model is the entries from first to last, none if last is 0.
type model struct {
	log         *testLog
	dir         string
	first, last uint64
}

func (m *model) check() {
	m.log.t.Helper()
	m.log.mustHave(m.first, m.last)
	var none raft.Log
	if err := m.log.stores.Log.GetLog(m.last+1, &none); !errors.Is(err, raft.ErrLogNotFound) {
		m.log.t.Fatalf("entry %d is not there, and reading it gives %v", m.last+1, err)
	}
}

func (m *model) append(t *rapid.T) {
	n := rapid.Uint64Range(1, 12).Draw(t, "entries")
	from := m.last + 1
	if m.last == 0 {
		from = rapid.Uint64Range(1, 50).Draw(t, "first")
		m.first = from
	}
	m.log.append(from, from+n-1)
	m.last = from + n - 1
}

func (m *model) dropFirst(t *rapid.T) {
	if m.last == 0 {
		t.Skip("empty")
	}
	to := rapid.Uint64Range(m.first, m.last).Draw(t, "to")
	m.delete(m.first, to)
	if m.first = to + 1; m.first > m.last {
		m.first, m.last = 0, 0
	}
}

func (m *model) truncate(t *rapid.T) {
	if m.last == 0 {
		t.Skip("empty")
	}
	from := rapid.Uint64Range(m.first, m.last).Draw(t, "from")
	m.delete(from, m.last)
	if m.last = from - 1; m.last < m.first {
		m.first, m.last = 0, 0
	}
}

func (m *model) delete(from, to uint64) {
	if err := m.log.stores.Log.DeleteRange(from, to); err != nil {
		m.log.t.Fatal(err)
	}
}
