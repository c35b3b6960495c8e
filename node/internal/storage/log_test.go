package storage

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"

	"example.com/tenure"
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
		"absent":          {[]*raft.Log{nil}, "absent"},
		"without a seal":  {[]*raft.Log{command(5, 2)}, "no checksum"},
		"a flipped bit":   {[]*raft.Log{flipped}, "does not match"},
		"a gap":           {[]*raft.Log{seal(command(5, 2)), seal(command(7, 2))}, "does not follow"},
		"a term too low":  {[]*raft.Log{seal(command(5, 2)), seal(command(6, 1))}, "does not follow"},
		"no index":        {[]*raft.Log{seal(command(0, 2))}, "index is 0"},
		"no term":         {[]*raft.Log{seal(command(5, 0))}, "term 0"},
		"no command":      {[]*raft.Log{seal(&raft.Log{Index: 5, Term: 2, Data: []byte("?")})}, "not a test entry"},
		"unknown":         {[]*raft.Log{seal(&raft.Log{Index: 5, Term: 2, Type: 77})}, "type, 77, is unknown"},
		"of an old kind":  {[]*raft.Log{seal(&raft.Log{Index: 5, Term: 2, Type: raft.LogAddPeerDeprecated})}, "is unknown"},
		"a configuration": {[]*raft.Log{seal(&raft.Log{Index: 5, Term: 2, Type: raft.LogConfiguration, Data: []byte{0xc1}})}, "can't be decoded"},
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

// logModel is what a log without holes holds.
type logModel struct {
	first uint64
	terms []uint64
}

func (m *logModel) last() uint64 { return m.first + uint64(len(m.terms)) - 1 }

// Both storages behave as the model does, whatever Raft does to them, also
// across being opened again; and StoredAt knows an entry only while it is there.
func TestLogAgainstModel(t *testing.T) {
	for name, storage := range bothStorages(t) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) { againstModel(t, rt, storage) })
		})
	}
}

func againstModel(t *testing.T, rt *rapid.T, storage Storage) {
	g := newGuarded(t, storage)
	defer func() { g.Close() }()
	empty(t, g.ForNode().Log)
	model := logModel{first: rapid.Uint64Range(1, 1000).Draw(rt, "first")}
	term := uint64(1)
	rt.Repeat(map[string]func(*rapid.T){
		"store": func(rt *rapid.T) {
			n := rapid.Uint64Range(1, 20).Draw(rt, "n")
			term += rapid.Uint64Range(0, 1).Draw(rt, "term")
			from := model.first + uint64(len(model.terms))
			if err := g.ForNode().Log.StoreLogs(commands(from, from+n-1, term)); err != nil {
				rt.Fatal(err)
			}
			for range n {
				model.terms = append(model.terms, term)
			}
		},
		"compact": func(rt *rapid.T) {
			if len(model.terms) == 0 {
				rt.Skip()
			}
			n := rapid.IntRange(1, len(model.terms)).Draw(rt, "n")
			if err := g.ForNode().Log.DeleteRange(model.first, model.first+uint64(n)-1); err != nil {
				rt.Fatal(err)
			}
			model.first, model.terms = model.first+uint64(n), model.terms[n:]
		},
		"truncate": func(rt *rapid.T) {
			if len(model.terms) == 0 {
				rt.Skip()
			}
			n := rapid.IntRange(1, len(model.terms)).Draw(rt, "n")
			if err := g.ForNode().Log.DeleteRange(model.last()-uint64(n)+1, model.last()); err != nil {
				rt.Fatal(err)
			}
			model.terms = model.terms[:len(model.terms)-n]
			term++
		},
		"": func(rt *rapid.T) { compareLog(rt, g.Guarded, &model) },
	})
	if err := g.Close(); err != nil {
		rt.Fatal(err)
	}
	g = newGuarded(t, storage)
	for index := range g.stored.ring {
		g.stored.ring[index].index = 0
	}
	compareEntries(rt, g.Guarded, &model)
}

func empty(t *testing.T, log raft.LogStore) {
	first, err := log.FirstIndex()
	if err != nil {
		t.Fatal(err)
	}
	last, err := log.LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	if last == 0 {
		return
	}
	if err := log.DeleteRange(first, last); err != nil {
		t.Fatal(err)
	}
}

func compareLog(rt *rapid.T, g *Guarded, model *logModel) {
	compareEntries(rt, g, model)
	for i := range uint64(len(model.terms) + 10) {
		index := model.first + i
		_, known := g.StoredAt(index, termAt(model, index))
		if want := i < uint64(len(model.terms)); known != want {
			rt.Fatalf("StoredAt knows entry %d: %v", index, known)
		}
		if _, known := g.StoredAt(index, 1<<40); known {
			rt.Fatalf("StoredAt knows entry %d under another term", index)
		}
	}
}

func termAt(model *logModel, index uint64) uint64 {
	if i := index - model.first; i < uint64(len(model.terms)) {
		return model.terms[i]
	}
	return 1
}

func compareEntries(rt *rapid.T, g *Guarded, model *logModel) {
	wantFirst, wantLast := model.first, model.last()
	if len(model.terms) == 0 {
		wantFirst, wantLast = 0, 0
	}
	first, err1 := g.ForNode().Log.FirstIndex()
	last, err2 := g.ForNode().Log.LastIndex()
	if first != wantFirst || last != wantLast || err1 != nil || err2 != nil {
		rt.Fatalf("entries %d to %d, want %d to %d: %v, %v", first, last, wantFirst, wantLast, err1, err2)
	}
	for i, term := range model.terms {
		var log raft.Log
		if err := g.ForNode().Log.GetLog(model.first+uint64(i), &log); err != nil || log.Term != term {
			rt.Fatalf("entry %d: term %d, want %d: %v", model.first+uint64(i), log.Term, term, err)
		}
	}
	for _, index := range []uint64{0, model.first - 1, model.first + uint64(len(model.terms))} {
		if err := g.ForNode().Log.GetLog(index, new(raft.Log)); err != raft.ErrLogNotFound {
			rt.Fatalf("entry %d: %v", index, err)
		}
	}
}

// The instant of an entry is that at which storing it began.
func TestStoredAt(t *testing.T) {
	clock := &handClock{now: 5 * time.Second}
	f := &faults{}
	stores, err := faulty{Memory(), f}.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	g := Guard(stores, GuardConfig{Clock: clock, CheckEntry: checkTestEntry, Fail: func(err error) { t.Error(err) }})
	f.on("StoreLogs", func() error { clock.now += time.Second; return nil })
	if err := g.ForNode().Log.StoreLogs(commands(1, 2, 1)); err != nil {
		t.Fatal(err)
	}
	if at, ok := g.StoredAt(2, 1); at != 5*time.Second || !ok {
		t.Errorf("entry 2 was stored at %v, %v", at, ok)
	}
	if _, ok := g.StoredAt(0, 0); ok {
		t.Error("there is an entry 0")
	}
	// The ring is bounded: the oldest entries are forgotten.
	for from := uint64(3); from < 3+storedSize; from += 64 {
		if err := g.ForNode().Log.StoreLogs(commands(from, from+63, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := g.StoredAt(2, 1); ok {
		t.Error("entry 2 is still known")
	}
	if _, ok := g.StoredAt(3+storedSize-1, 1); !ok {
		t.Error("the newest entry is not known")
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// handClock is moved by hand.
type handClock struct{ now time.Duration }

func (c *handClock) Now() time.Duration { return c.now }

func (c *handClock) AfterFunc(time.Duration, func()) tenure.Timer { panic("not used") }
