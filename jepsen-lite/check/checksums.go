package check

import (
	"fmt"

	"example.com/tenure/jepsen-lite/history"
)

// Checksums is the checker of the replicas: at equal applied index all have
// the same checksum of their state, and at an index that both know to be
// committed two have the same entry. It can't see an error that all replicas
// make alike.
var Checksums = Checker{
	Name:  "checksums",
	Sees:  "replicas whose states, or committed entries, differ at the same index",
	Blind: "an error that all replicas make alike, indexes that only one replica told",
	Needs: history.TellsSums,
	check: checkChecksums,
}

func checkChecksums(h *history.History, f *Finding) {
	first := make(map[uint64]*history.Event)
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Sum {
			continue
		}
		f.Looked++
		had := first[e.Index]
		if had == nil {
			first[e.Index] = e
			continue
		}
		if had.Sum != e.Sum {
			f.violate(Violation{
				Rule: "diverged", Claim: ClaimS,
				Sentence: fmt.Sprintf("at index %d %s has %s (told at %s), and %s has %s (told at %s)",
					e.Index, had.Node, had.Sum, at(had.T), e.Node, e.Sum, at(e.T)),
			}, e, had)
		}
	}
}
