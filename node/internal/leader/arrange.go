package leader

import (
	"slices"

	"example.com/tenure/fsm"
)

// arrange puts the commands that name tenures in the order of their slots:
// neighbours take fewer bytes, and touch the same pages of the state. Commands
// of one tenure stay in the order in which they were asked.
func (e *entry) arrange() {
	order := make([]uint64, len(e.commands)) // slots, and then places
	for i := range order {
		order[i] = uint64(e.commands[i].Number.Slot)<<32 | uint64(i)
	}
	if slices.IsSorted(order) {
		return
	}
	slices.Sort(order)
	commands, sources := make([]fsm.Command, len(order), cap(e.commands)), make([]source, len(order), cap(e.sources))
	for to, place := range order {
		from := uint32(place)
		commands[to], sources[to] = e.commands[from], e.sources[from]
	}
	e.commands, e.sources = commands, sources
}
