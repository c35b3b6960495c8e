package store

import (
	"fmt"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// The goal: whatever process is frozen or killed before, in or after whatever
// operation, and whatever a loss of power leaves, no acknowledged entry is lost
// or moves, an entry that was read does not vanish, and nothing of a forgotten
// epoch comes back. No lease is asked: each process goes on writing for as long
// as it lives, as one does that was frozen behind its gate.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) {
			w := newWorld()
			defer w.finish()
			for range 4 {
				t.Repeat(w.actions())
			}
			if broken := w.settle(); broken != "" {
				t.Fatal(broken)
			}
		})
	})
}

func (w *world) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"": func(t *rapid.T) {
			if w.broken != "" {
				t.Fatal(w.broken)
			}
		},
		"acquire": func(t *rapid.T) { w.acquire(rapid.Uint64Range(1, 3).Draw(t, "epochs on")) },
		"append":  func(t *rapid.T) { w.append(w.pick(t, true)) },
		"retry": func(t *rapid.T) {
			p := w.pick(t, true)
			if w.ids > 0 && p.confirms == 0 {
				w.retry(p, fmt.Sprintf("e%d", rapid.IntRange(1, w.ids).Draw(t, "id")))
			}
		},
		"read": func(t *rapid.T) {
			if p := w.pick(t, true); p.confirms == 0 {
				w.read(p)
			}
		},
		"run a step":     func(t *rapid.T) { w.step(t, verdict{shy: rapid.Bool().Draw(t, "shy")}) },
		"run some steps": func(t *rapid.T) { w.some(t, rapid.IntRange(2, 16).Draw(t, "steps")) },
		"run on":         func(t *rapid.T) { w.some(t, all) },
		"die":            func(t *rapid.T) { seldom(t); w.step(t, mishap(t, verdict{die: true})).kill() },
		"fail":           func(t *rapid.T) { seldom(t); w.step(t, mishap(t, verdict{fail: true})) },
		"cut the power": func(t *rapid.T) {
			seldom(t)
			w.finish()
			w.machine.cutPower(chance(t))
		},
		"forget": func(t *rapid.T) {
			seldom(t)
			w.forgotten = w.epoch
		},
	}
}

// seldom skips three of four times.
func seldom(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "seldom") > 0 {
		t.Skip("not now")
	}
}

func mishap(t *rapid.T, v verdict) verdict {
	v.done = rapid.Bool().Draw(t, "done")
	v.part = rapid.IntRange(0, 100).Draw(t, "part")
	return v
}

// pick draws a living process, one with an open ledger if need be. For
// shrinking, the newest comes first.
func (w *world) pick(t *rapid.T, opened bool) *process {
	var some []*process
	for _, p := range w.processes {
		if !p.dead && (p.opened || !opened) {
			some = append(some, p)
		}
	}
	if len(some) == 0 {
		t.Skip("no such process")
	}
	return some[len(some)-1-rapid.IntRange(0, min(3, len(some)-1)).Draw(t, "process")]
}

func (w *world) some(t *rapid.T, steps int) {
	w.run(w.pick(t, false), steps, verdict{shy: rapid.Bool().Draw(t, "shy")})
}

func (w *world) step(t *rapid.T, v verdict) *process {
	p := w.pick(t, false)
	if len(p.steps) == 0 {
		t.Skip("nothing to do")
	}
	p.steps[rapid.IntRange(0, len(p.steps)-1).Draw(t, "step")].turn <- v
	synctest.Wait()
	return p
}
