package machine

import "time"

// observed remembers, for each slot of the state, the local instant at which
// the slot's newest grant was applied or stored.
//
// Invariant: an instant is kept as one stored triple with the epoch and grant
// index that it belongs to, and is used for nothing else. A slot that went to
// another tenure therefore never lends it an older tenure's instant.
type observed struct {
	chunks []*[chunkSlots]sighting
}

// chunkSlots keeps the growth of a large table from copying it.
const chunkSlots = 4096

// A sighting is one stored triple and its instant.
type sighting struct {
	epoch uint64
	index uint64 // grant index
	ttl   time.Duration
	at    time.Duration // reading of the node's clock
}

// set stores the instant at which a grant of the tenure in slot was seen.
func (o *observed) set(slot uint32, s sighting) {
	chunk := int(slot / chunkSlots)
	for len(o.chunks) <= chunk {
		o.chunks = append(o.chunks, nil)
	}
	if o.chunks[chunk] == nil {
		o.chunks[chunk] = new([chunkSlots]sighting)
	}
	o.chunks[chunk][slot%chunkSlots] = s
}

// get returns what was seen of exactly the grant (epoch, index) in slot.
func (o *observed) get(slot uint32, epoch, index uint64) (sighting, bool) {
	chunk := int(slot / chunkSlots)
	if chunk >= len(o.chunks) || o.chunks[chunk] == nil {
		return sighting{}, false
	}
	s := o.chunks[chunk][slot%chunkSlots]
	return s, s.epoch == epoch && s.index == index
}

// left returns how long the grant still has at now, from 0 to its TTL.
func (s sighting) left(now time.Duration) time.Duration {
	return min(max(s.at+s.ttl-now, 0), s.ttl)
}
