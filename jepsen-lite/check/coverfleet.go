package check

import "example.com/tenure/jepsen-lite/history"

// coverFleet counts what is known of a fleet from its answers.
func coverFleet(seen map[string]int, h *history.History, ops map[string][]*history.Op) {
	for _, reigns := range ReignsOf(h) {
		seen[Successions] += len(reigns) - 1
	}
	healed, phased := h.PhaseStart(history.PhaseLiveness)
	if !phased {
		return
	}
	for _, asked := range ops {
		for _, op := range asked {
			if op.Invoke.F == history.List && op.Outcome == history.OK && op.Call >= healed {
				seen[ListedKeys]++
				break
			}
		}
	}
}
