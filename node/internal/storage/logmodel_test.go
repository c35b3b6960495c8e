package storage

import (
	"testing"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"
)

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
