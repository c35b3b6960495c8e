package storage

import (
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// raw opens a storage without a guard, to do to it what a guard would not.
func raw(t *testing.T, storage Storage, f func(s Stores)) {
	t.Helper()
	s, err := storage.Open(hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	f(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Check finds what Raft would not, or only by a panic.
func TestCheckRefuses(t *testing.T) {
	sealed := func(logs ...*raft.Log) []*raft.Log {
		for _, log := range logs {
			sealEntry(log)
		}
		return logs
	}
	cases := map[string]struct {
		change func(m *memory)
		says   string
	}{
		"an entry's data": {
			func(m *memory) { m.entries[7].Data[3] ^= 4 },
			"entry 17: its checksum does not match",
		},
		"an entry's term": {
			func(m *memory) { m.entries[7].Term++ },
			"entry 17: its checksum does not match",
		},
		"an entry's type": {
			func(m *memory) { m.entries[7].Type = raft.LogNoop },
			"entry 17: its checksum does not match",
		},
		"an entry without a checksum": {
			func(m *memory) { m.entries[7].Extensions = nil },
			"entry 17: it has no checksum",
		},
		"a checksum of another program": {
			func(m *memory) { m.entries[7].Extensions[0] = 9 },
			"entry 17: its checksum is of an unknown kind",
		},
		"two entries exchanged": {
			func(m *memory) { m.entries[7], m.entries[8] = m.entries[8], m.entries[7] },
			"in the place of entry 17 there is entry 18",
		},
		"a command that is none": {
			func(m *memory) {
				m.entries[7] = *sealed(&raft.Log{Index: 17, Term: 3, Type: raft.LogCommand, Data: []byte("?")})[0]
			},
			"entry 17: not a test entry",
		},
		"a configuration that is none": {
			func(m *memory) {
				m.entries[7] = *sealed(&raft.Log{Index: 17, Term: 3, Type: raft.LogConfiguration, Data: []byte("?")})[0]
			},
			"entry 17: its configuration can't be decoded",
		},
		"a term that goes down": {
			func(m *memory) { m.entries[7] = *sealed(command(17, 2))[0] },
			"does not follow entry 16 of term 3",
		},
		"the stable values": {
			func(m *memory) { m.values[string(keyValues)][30] ^= 1 },
			"its stable values: its checksum does not match",
		},
		"the stable values cut short": {
			func(m *memory) { m.values[string(keyValues)] = []byte{1, 2} },
			"its stable values: they have only 2 bytes",
		},
		"stable values of another program": {
			func(m *memory) {
				m.values[string(keyValues)] = appendSum([]byte{9, 0})
			},
			"its stable values: they are of an unknown version",
		},
		"bytes in the place of a number": {
			func(m *memory) {
				m.values[string(keyValues)] = encodeValues(map[string][]byte{"CurrentTerm": []byte("b3")})
			},
			`the stable value "CurrentTerm" is of another kind`,
		},
		"the stable values are gone": {
			func(m *memory) { delete(m.values, string(keyValues)) },
			"its current term is 0, though something of term 3 is stored",
		},
		"an older term": {
			func(m *memory) {
				m.values[string(keyValues)] = encodeValues(map[string][]byte{"CurrentTerm": {kindNumber, 0, 0, 0, 0, 0, 0, 0, 2}})
			},
			"its current term is 2, though something of term 3 is stored",
		},
		"a gap after the snapshot": {
			func(m *memory) { m.entries, m.first = m.entries[15:], 25 },
			"entries 21 to 24 are neither in a snapshot nor in the log",
		},
		"no snapshot": {
			func(m *memory) { m.snapshots = nil },
			"entries 1 to 9 are neither in a snapshot nor in the log",
		},
		"the only snapshot": {
			func(m *memory) { m.snapshots[0].data[10] ^= 1 },
			"entries 1 to 9 are neither in a snapshot nor in the log: snapshot 3-20-1: its seal: its checksum does not match",
		},
		"the only snapshot, and no log": {
			func(m *memory) { m.snapshots[0].data[10] ^= 1; m.entries = nil },
			"entries 1 to 20 are in no snapshot that can be read, nor in the log: snapshot 3-20-1",
		},
		"a snapshot's index": {
			func(m *memory) { m.snapshots[0].meta.Index++ },
			"its metadata is not what its seal says",
		},
		"a snapshot's configuration": {
			func(m *memory) { m.snapshots[0].meta.Configuration.Servers[0].Address = "elsewhere" },
			"its metadata is not what its seal says",
		},
		"a snapshot cut short": {
			func(m *memory) { m.snapshots[0].data = m.snapshots[0].data[:len(m.snapshots[0].data)-1] },
			"it has 4 bytes instead of 5",
		},
		"a snapshot without a seal": {
			func(m *memory) {
				m.snapshots[0].data = []byte("a state of a hundred and more bytes, but no seal before it")
			},
			"it does not begin with a seal",
		},
		"an empty snapshot": {
			func(m *memory) { m.snapshots[0].data = nil },
			"its seal can't be read",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			storage := Memory()
			g := newGuarded(t, storage)
			fill(t, g.ForNode(), 30)
			if err := g.Check(); err != nil {
				t.Fatalf("before the change: %v", err)
			}
			c.change(storage.(*memory))
			err := g.Check()
			var damage *DamageError
			if !errors.As(err, &damage) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Check: %v\nwant: %s", err, c.says)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A broken newest snapshot is passed over where the log still holds everything
// after the older one, and then Raft does not see it.
func TestCheckFallsBackToTheOlderSnapshot(t *testing.T) {
	for _, covered := range []bool{true, false} {
		storage := Memory()
		g := newGuarded(t, storage)
		s := g.ForNode()
		fill(t, s, 30)
		sink, err := s.Snapshots.Create(1, 25, 3, raft.Configuration{}, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		first := uint64(21)
		if !covered {
			first = 22
		}
		if err := s.Log.DeleteRange(10, first-1); err != nil {
			t.Fatal(err)
		}
		storage.(*memory).snapshots[0].data[20] ^= 1
		err = g.Check()
		if !covered {
			if err == nil || !strings.Contains(err.Error(), "entries 21 to 21 are neither") || !strings.Contains(err.Error(), "3-25-2") {
				t.Errorf("Check: %v", err)
			}
		} else if metas, lerr := s.Snapshots.List(); err != nil || lerr != nil || len(metas) != 1 || metas[0].Index != 20 {
			t.Errorf("Check: %v; snapshots %v, %v", err, metas, lerr)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A crash between the end of the leader's snapshot and the emptying of the log
// leaves a log that ends before the snapshot does; Check empties it, so that
// what comes next leaves no hole.
func TestCheckCompletesAnInstallation(t *testing.T) {
	g := newGuarded(t, Memory())
	s := g.ForNode()
	fill(t, s, 30)
	sink, err := s.Snapshots.Create(1, 100, 3, raft.Configuration{}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	if last, err := s.Log.LastIndex(); last != 0 || err != nil {
		t.Errorf("the last entry is %d, %v", last, err)
	}
	if err := s.Log.StoreLog(command(101, 3)); err != nil {
		t.Error(err)
	}
	if err := g.Check(); err != nil {
		t.Error(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// An empty storage is whole.
func TestCheckEmpty(t *testing.T) {
	g := newGuarded(t, Memory())
	if err := g.Check(); err != nil {
		t.Error(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
