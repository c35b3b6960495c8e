package storage

import (
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/tenure"
)

// What the guard costs, on a store that costs next to nothing and on bolt.
func BenchmarkLog(b *testing.B) {
	for _, store := range []struct {
		name string
		make func(b *testing.B) Storage
	}{
		{"memory", func(*testing.B) Storage { return Memory() }},
		{"bolt", func(b *testing.B) Storage { return Bolt(b.TempDir()) }},
	} {
		for _, guarded := range []bool{false, true} {
			name := store.name + "/bare"
			if guarded {
				name = store.name + "/guarded"
			}
			b.Run(name+"/store", func(b *testing.B) {
				log := openLog(b, store.make(b), guarded)
				b.ReportAllocs()
				for i := uint64(1); b.Loop(); i++ {
					if err := log.StoreLog(command(i, 1)); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(name+"/read", func(b *testing.B) {
				log := openLog(b, store.make(b), guarded)
				if err := log.StoreLogs(commands(1, 1024, 1)); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for i := uint64(0); b.Loop(); i++ {
					if err := log.GetLog(1+i%1024, new(raft.Log)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func openLog(b *testing.B, storage Storage, guarded bool) raft.LogStore {
	stores, err := storage.Open(hclog.NewNullLogger())
	if err != nil {
		b.Fatal(err)
	}
	log, end := stores.Log, stores.Close
	if guarded {
		g := Guard(stores, GuardConfig{Clock: tenure.MonotonicClock(), CheckEntry: checkTestEntry, Fail: func(err error) { b.Error(err) }})
		log, end = g.ForRaft().Log, g.Close
	}
	b.Cleanup(func() {
		if err := end(); err != nil {
			b.Error(err)
		}
	})
	return log
}

// How long opening takes with as many entries as a node can have.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	g := benchmarkOpen(b, dir)
	for from := uint64(1); from < 18_000; from += 200 {
		if err := g.ForNode().Log.StoreLogs(commands(from, from+199, 1)); err != nil {
			b.Fatal(err)
		}
	}
	if err := g.ForNode().Stable.SetUint64(keyCurrentTerm, 1); err != nil {
		b.Fatal(err)
	}
	if err := g.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := benchmarkOpen(b, dir).Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkOpen(b *testing.B, dir string) *Guarded {
	stores, err := Bolt(dir).Open(hclog.NewNullLogger())
	if err != nil {
		b.Fatal(err)
	}
	g := Guard(stores, GuardConfig{Clock: tenure.MonotonicClock(), CheckEntry: checkTestEntry, Fail: func(err error) { b.Error(err) }})
	if err := g.Check(); err != nil {
		b.Fatal(err)
	}
	return g
}
