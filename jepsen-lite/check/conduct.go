package check

import (
	"fmt"

	"example.com/tenure/jepsen-lite/history"
)

// Conduct is the checker of each node by itself: what an arena saw a node do
// that none may, whatever strikes it. It stops without a cause, starts from
// damaged data or does not say what is damaged, goes on after a write of its
// disk has failed, or does not come back. It sees no more than the arena looks
// for.
var Conduct = Checker{
	Name:  "conduct",
	Sees:  "a node that stops without a cause, starts from damaged data, goes on after its disk has failed, or does not come back",
	Blind: "everything that a node does in order",
	Needs: history.TellsSums,
	check: checkConduct,
}

func checkConduct(h *history.History, f *Finding) {
	nodes := make(map[string]bool)
	for i := range h.Events {
		switch e := &h.Events[i]; e.Kind {
		case history.Leader, history.Sum:
			nodes[e.Node] = true
		case history.Breach:
			nodes[e.Node] = true
			f.violate(Violation{
				Rule: "conduct", Claim: ClaimS,
				Sentence: fmt.Sprintf("at %s node %s %s", at(e.T), e.Node, e.Msg),
			}, e)
		}
	}
	f.Looked = len(nodes)
}
