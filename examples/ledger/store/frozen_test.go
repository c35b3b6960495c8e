package store

import (
	"errors"
	"testing"
	"testing/synctest"
)

// The goal: a writer that is frozen before any of its operations, goes on while
// a first successor is frozen before any of its own, and goes on again when a
// second one has taken over from both, has its entry acknowledged only if it is
// there for good. All such schedules are tried, because chance seldom draws the
// one in which the writer's look falls between two takeovers.
func TestWriterFrozenEverywhere(t *testing.T) {
	const writing, opening = 5, 20 // operations of an append, and of a takeover
	for before := range writing + 1 {
		for first := range opening + 1 {
			for during := 1; during <= writing-before; during++ {
				for after := range opening + 1 - first {
					synctest.Test(t, func(t *testing.T) {
						w, writer := newWriter(t)
						defer w.finish()
						shy := verdict{shy: (before+first+during+after)%2 == 0}
						w.append(writer)
						w.run(writer, before, shy)
						successor := w.acquire(1)
						w.run(successor, first, shy)
						w.run(writer, during, shy)
						w.run(successor, after, shy)
						w.run(w.acquire(1), all, shy)
						w.run(writer, all, shy)
						w.run(successor, all, shy)
						if broken := w.settle(); broken != "" {
							t.Fatalf("writer %d, successor %d, writer %d, successor %d steps: %s", before, first, during, after, broken)
						}
					})
				}
			}
		}
	}
}

// The goal: the same, where the second successor is frozen too, wherever it
// cleans: a look that finds no seal must not find the writer's copy either.
func TestWriterLooksWhileCleaning(t *testing.T) {
	const opening = 24 // operations of a takeover that finds the files of two others
	for stop := range opening + 1 {
		synctest.Test(t, func(t *testing.T) {
			w, writer := newWriter(t)
			defer w.finish()
			first := w.acquire(1)
			w.runTo(first, "create", draftName(2)) // it has read without the writer's entry
			w.append(writer)
			w.runTo(writer, "end the listing", "") // durable; its look has begun
			w.runTo(first, "rename", draftName(2))
			w.run(first, 2, verdict{}) // it has published
			second := w.acquire(1)
			w.run(second, stop, verdict{})
			w.run(writer, all, verdict{shy: true})
			w.run(second, all, verdict{})
			w.run(first, all, verdict{})
			if broken := w.settle(); broken != "" {
				t.Fatalf("the second successor stopped after %d steps: %s", stop, broken)
			}
		})
	}
}

// The goal: of two that open under one epoch at once, one is refused.
func TestOneOpensAnEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		defer w.finish()
		one, other := w.acquire(1), w.acquire(0)
		w.runTo(one, "create", sealName(1))
		w.runTo(other, "create", sealName(1))
		w.run(one, all, verdict{})
		w.run(other, all, verdict{})
		var sealed *SealedError
		if !one.opened || !errors.As(other.err, &sealed) || sealed.By != 1 {
			t.Fatalf("the first: %v, the second: %v", one.err, other.err)
		}
	})
}

// newWriter returns a world with one process that has its ledger open and an
// entry in it.
func newWriter(t *testing.T) (*world, *process) {
	w := newWorld()
	p := w.acquire(1)
	w.run(p, all, verdict{})
	w.append(p)
	w.run(p, all, verdict{})
	if w.generation(p).length != 1 {
		t.Fatalf("the first entry was not acknowledged: %v", p.err)
	}
	return w, p
}

// The goal: when the power fails before any operation of a takeover and of the
// append after it, and the disk failed at any operation before, what was
// acknowledged is there afterwards, whether of what was not synced all survives,
// nothing, or every other piece.
func TestPowerCutEverywhere(t *testing.T) {
	const operations = 26 // of a takeover and an append
	mishaps := []verdict{{}, {fail: true, part: 50}, {fail: true, done: true, part: 100}}
	fates := []func() fate{keeps(1, 1), keeps(0, 1), keeps(1, 2)}
	for cut := range operations + 1 {
		for at := range cut {
			for i, mishap := range mishaps {
				if i == 0 && at > 0 {
					continue // nothing happens, wherever
				}
				for _, f := range fates {
					synctest.Test(t, func(t *testing.T) {
						w, _ := newWriter(t)
						defer w.finish()
						w.runToTheCut(w.acquire(1), cut, at, mishap)
						w.finish()
						w.machine.cutPower(f())
						if broken := w.settle(); broken != "" {
							t.Fatalf("power cut after %d steps, %+v at step %d: %s", cut, mishap, at, broken)
						}
					})
				}
			}
		}
	}
}

// runToTheCut lets p take cut steps, of a takeover and an append, and one of
// them go as the verdict says.
func (w *world) runToTheCut(p *process, cut, at int, v verdict) {
	for n := range cut {
		if p.opened && w.ids == 1 {
			w.append(p)
		}
		if n == at {
			w.run(p, 1, v)
		} else {
			w.run(p, 1, verdict{})
		}
	}
}

// keeps makes the fate that lets n of m pieces survive, and all of a file's
// length.
func keeps(n, m int) func() fate {
	return func() fate {
		count := 0
		return fate{
			survives: func() bool { count++; return count%m < n },
			length:   func(_, most int) int { return most },
		}
	}
}
