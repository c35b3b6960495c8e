package fsm

// Checksum returns a hash of all that is replicated: two states that applied
// the same log agree on it. It is kept up to date by each command, so it costs
// next to nothing, and does not depend on how the state came about: a restored
// snapshot has the checksum of the state that it was taken of.
//
// It finds divergence by mistake or by broken hardware; it is no defence
// against an adversary on a node.
func (s *State) Checksum() uint64 { return s.sum + s.globals.term() }

func (g *globals) term() uint64 {
	h := hash(fixedKey, g.clusterID)
	for _, word := range [...]uint64{uint64(g.largest), uint64(g.window), g.index, g.serials, g.floor, g.base, bit(g.marked), bit(g.frozen)} {
		h = mix(h + word)
	}
	return h
}

// coldTerm returns what the row of a slot adds to the sum. Each record adds
// two terms, so that a renewal need not hash the names again.
func (s *State) coldTerm(slot uint32) uint64 {
	r := s.row(slot)
	h := mix(hash(fixedKey, s.key(slot)) + uint64(slot))
	h = mix(h + hash(fixedKey, s.id(slot)))
	h = mix(h + hash(fixedKey, s.owners.name(r.owner)))
	for _, word := range [...]uint64{r.epoch, r.forgotten, r.serial} {
		h = mix(h + word)
	}
	return h
}

// grantTerm returns what a tenure that stands in a slot adds to the sum; nothing
// if none does.
func grantTerm(slot uint32, g grant) uint64 {
	if g.index == 0 {
		return 0
	}
	return mix(mix(g.index+0x9e3779b97f4a7c15) + (uint64(slot)<<32 | uint64(g.ttl)))
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
