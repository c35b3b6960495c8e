package storage

import (
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
)

// Entries from a peer are refused if they are not as their leader made them, or
// if Raft would panic over them. Nothing fails by that.
func TestCheckReceived(t *testing.T) {
	seal := func(log *raft.Log) *raft.Log { sealEntry(log); return log }
	flipped := seal(command(5, 2))
	flipped.Data[0] ^= 1
	cases := map[string]struct {
		entries []*raft.Log
		says    string // "" if they are fine
	}{
		"none":    {nil, ""},
		"a batch": {[]*raft.Log{seal(command(5, 2)), seal(command(6, 2)), seal(command(7, 4))}, ""},
		"noop, barrier, configuration": {[]*raft.Log{
			seal(&raft.Log{Index: 1, Term: 1, Type: raft.LogNoop}),
			seal(&raft.Log{Index: 2, Term: 1, Type: raft.LogBarrier}),
			seal(&raft.Log{Index: 3, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(raft.Configuration{})}),
		}, ""},
		"absent":                          {[]*raft.Log{nil}, "absent"},
		"without a seal":                  {[]*raft.Log{command(5, 2)}, "no checksum"},
		"a flipped bit":                   {[]*raft.Log{flipped}, "does not match"},
		"a gap":                           {[]*raft.Log{seal(command(5, 2)), seal(command(7, 2))}, "does not follow"},
		"a term too low":                  {[]*raft.Log{seal(command(5, 2)), seal(command(6, 1))}, "does not follow"},
		"no index":                        {[]*raft.Log{seal(command(0, 2))}, "index is 0"},
		"no term":                         {[]*raft.Log{seal(command(5, 0))}, "term 0"},
		"no command":                      {[]*raft.Log{seal(&raft.Log{Index: 5, Term: 2, Data: []byte("?")})}, "not a test entry"},
		"a command that panics the check": {[]*raft.Log{seal(&raft.Log{Index: 5, Term: 2, Data: []byte("panic")})}, "panicked"},
		"unknown":                         {[]*raft.Log{seal(&raft.Log{Index: 5, Term: 2, Type: 77})}, "type, 77, is unknown"},
		"of an old kind":                  {[]*raft.Log{seal(&raft.Log{Index: 5, Term: 2, Type: raft.LogAddPeerDeprecated})}, "is unknown"},
		"a configuration":                 {[]*raft.Log{seal(&raft.Log{Index: 5, Term: 2, Type: raft.LogConfiguration, Data: []byte{0xc1}})}, "can't be decoded"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, Memory())
			err := g.CheckReceived(c.entries)
			var rejected *RejectedError
			if c.says == "" && err != nil {
				t.Error(err)
			}
			if c.says != "" && (!errors.As(err, &rejected) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%v, want %s", err, c.says)
			}
			// Storing them is refused as well, unless the seal is all that is
			// missing: then they are the leader's own.
			if c.says != "" && name != "without a seal" {
				if err := g.ForRaft().Log.StoreLogs(c.entries); !errors.As(err, &rejected) {
					t.Errorf("StoreLogs: %v", err)
				}
			}
			if g.Err() != nil {
				t.Errorf("it failed: %v", g.Err())
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The leader's own entries get their seal in place, because Raft goes on to
// apply the very same entry.
func TestOwnEntriesAreSealed(t *testing.T) {
	g := newGuarded(t, Memory())
	own := commands(1, 3, 1)
	if err := g.ForRaft().Log.StoreLogs(own); err != nil {
		t.Fatal(err)
	}
	if err := g.CheckReceived(own); err != nil {
		t.Error(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// Entries that are refused in the place of deleted ones end the node: Raft
// would go on to believe that it has the deleted ones.
func TestRefusedAfterTruncation(t *testing.T) {
	g := newGuarded(t, Memory())
	log := g.ForNode().Log
	if err := log.StoreLogs(commands(1, 9, 1)); err != nil {
		t.Fatal(err)
	}
	bad := command(5, 2)
	sealEntry(bad)
	bad.Term = 3
	var rejected *RejectedError
	for _, replaced := range []bool{true, false} {
		if err := log.DeleteRange(5, 9); err != nil {
			t.Fatal(err)
		}
		if !replaced {
			break
		}
		if err := log.StoreLogs(commands(5, 9, 2)); err != nil {
			t.Fatal(err)
		}
		if err := log.StoreLog(bad); !errors.As(err, &rejected) || g.Err() != nil {
			t.Errorf("StoreLog after they were replaced: %v, failed: %v", err, g.Err())
		}
	}
	var failed *FailedError
	if err := log.StoreLog(bad); !errors.As(err, &failed) {
		t.Errorf("StoreLog in the place of deleted entries: %v", err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// What the log must never do fails the node.
func TestLogKeepsItsInvariants(t *testing.T) {
	cases := map[string]struct {
		do   func(log raft.LogStore) error
		says string
	}{
		"a hole":                  {func(log raft.LogStore) error { return log.StoreLog(command(22, 1)) }, "entry 22 does not follow the last one, 20"},
		"an entry again":          {func(log raft.LogStore) error { return log.StoreLog(command(20, 1)) }, "entry 20 does not follow the last one, 20"},
		"a deletion in the midst": {func(log raft.LogStore) error { return log.DeleteRange(12, 18) }, "are in the midst of the log, 10 to 20"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, Memory())
			g.inner.Log = raft.NewInmemStore() // which takes anything
			log := g.ForNode().Log
			if err := log.StoreLogs(commands(10, 20, 1)); err != nil {
				t.Fatal(err)
			}
			var failed *FailedError
			if err := c.do(log); !errors.As(err, &failed) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %s", err, c.says)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A store that does not do what it says fails the node.
func TestLyingStores(t *testing.T) {
	cases := map[string]struct {
		store func(inner raft.LogStore) raft.LogStore
		do    func(log raft.LogStore) error
		says  string
	}{
		"a hole": {
			func(inner raft.LogStore) raft.LogStore { return holeAt{inner, 5} },
			func(log raft.LogStore) error { return log.GetLog(5, new(raft.Log)) },
			"entry 5 is missing between others",
		},
		"deletes nothing at the front": {
			func(inner raft.LogStore) raft.LogStore { return deletesNothing{inner} },
			func(log raft.LogStore) error { return log.DeleteRange(1, 4) },
			"after entries 1 to 4 were deleted it holds entries 1 to 9",
		},
		"deletes nothing at the end": {
			func(inner raft.LogStore) raft.LogStore { return deletesNothing{inner} },
			func(log raft.LogStore) error { return log.DeleteRange(6, 9) },
			"after entries 6 to 9 were deleted it holds entries 1 to 9",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, Memory())
			g.inner.Log = c.store(g.inner.Log)
			log := g.ForNode().Log
			if err := log.StoreLogs(commands(1, 9, 1)); err != nil {
				t.Fatal(err)
			}
			var damage *DamageError
			if err := c.do(log); !errors.As(err, &damage) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %s", err, c.says)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// An entry that another goroutine stores just after it was not found is no hole,
// and is checked as any other.
func TestEntryStoredMeanwhile(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		g := newGuarded(t, Memory())
		if err := g.ForNode().Log.StoreLogs(commands(1, 9, 1)); err != nil {
			t.Fatal(err)
		}
		reads := 0
		g.faults.on("GetLog", func() error {
			if reads++; reads == 1 {
				return raft.ErrLogNotFound
			}
			return nil
		})
		if damaged {
			g.inner.Log = damages{g.inner.Log}
		}
		err := g.ForNode().Log.GetLog(9, new(raft.Log))
		if (err != nil) != damaged {
			t.Errorf("damaged %v: %v", damaged, err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// damages reads all entries with another term than they had.
type damages struct{ raft.LogStore }

func (l damages) GetLog(index uint64, log *raft.Log) error {
	err := l.LogStore.GetLog(index, log)
	log.Term++
	return err
}

type holeAt struct {
	raft.LogStore
	index uint64
}

func (l holeAt) GetLog(index uint64, log *raft.Log) error {
	if index == l.index {
		return raft.ErrLogNotFound
	}
	return l.LogStore.GetLog(index, log)
}

type deletesNothing struct{ raft.LogStore }

func (deletesNothing) DeleteRange(uint64, uint64) error { return nil }
