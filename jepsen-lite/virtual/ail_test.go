package virtual

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

// A node stops when one of its writes has failed; of one that does not, the run
// says so.
func TestAFailedWriteStopsTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := history.Create(filepath.Join(t.TempDir(), "history.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		p := plan.Draw(1, plan.Options{Workload: []string{plan.Contended}})
		p.Nodes = 3
		a := newArena(Run{Plan: p, History: w, Terms: p.Terms()})
		if err := a.found(); err != nil {
			t.Fatal(err)
		}
		s := a.nodes[a.leader()]
		heal := s.excuse().Fill()
		n, _ := s.running()
		if _, err := n.Get(a.ctx, "k1"); err == nil { // it writes an entry for that
			t.Error("its disk is full, and it answers")
		}
		time.Sleep(10 * time.Second)
		if n.Err() == nil {
			t.Error("its disk is full, and it goes on")
		}
		if a.breached {
			t.Error("it stopped, and is said to go on")
		}
		heal()
		other := a.nodes[a.leader()]
		other.mustStop() // as if a write had failed
		a.left.Wait()
		if !a.breached {
			t.Error("a write failed and the node goes on, and nobody says so")
		}
		a.stop()
		a.closeNodes()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
