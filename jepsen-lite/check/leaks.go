package check

import (
	"fmt"

	"example.com/tenure/jepsen-lite/history"
)

// Leaks is the checker of what is left when everything was closed:
// goroutines, waiters, files, connections. It sees what the arena counts, at
// the end only.
var Leaks = Checker{
	Name:  "leaks",
	Sees:  "goroutines, waiters, files and connections that are left at the end",
	Blind: "what leaks during the run and goes at its end, and what the arena does not count",
	Needs: history.TellsLeaks,
	check: checkLeaks,
}

func checkLeaks(h *history.History, f *Finding) {
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Leak {
			continue
		}
		f.Looked++
		if e.N > 0 {
			f.violate(Violation{
				Rule: "left", Claim: ClaimL,
				Sentence: fmt.Sprintf("%d %s were left after everything had been closed: %s", e.N, e.F, e.Msg),
				Amount:   fmt.Sprintf("%d %s", e.N, e.F),
			}, e)
		}
	}
}
