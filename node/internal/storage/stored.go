package storage

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// storedSize is how many of the newest entries StoredAt knows. Entries are
// applied soon after they are stored: what is in flight is far less.
const storedSize = 1 << 14

// storedAt remembers when entries were stored.
//
// The instant is read before the entry is written, when this node has it in
// its hands. That is safe for judging expiry: a record expires one TTL after
// an instant at which the node has surely received the grant, because the
// holder counts its TTL from before it sent the request. Index and term name
// one entry only, so an instant can't be taken for that of another, and an
// entry that was deleted and came again had been made before the first time.
type storedAt struct {
	mu   sync.Mutex
	ring []storedEntry // an entry's place is its index modulo the size
}

type storedEntry struct {
	index, term uint64
	at          time.Duration
}

func newStoredAt() *storedAt {
	return &storedAt{ring: make([]storedEntry, storedSize)}
}

func (s *storedAt) note(logs []*raft.Log, at time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, log := range logs {
		s.ring[log.Index%storedSize] = storedEntry{index: log.Index, term: log.Term, at: at}
	}
}

// erase forgets entries that were deleted.
func (s *storedAt) erase(min, max uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.ring {
		if e := &s.ring[i]; e.index >= min && e.index <= max {
			*e = storedEntry{}
		}
	}
}

// StoredAt returns the reading of the guard's clock when the entry of this index
// and term came to be stored, if it is among the newest few thousand and was
// stored since the stores were opened. What is deleted is forgotten; after a
// snapshot from the leader that is everything, before anything is applied on
// top of it.
func (g *Guarded) StoredAt(index, term uint64) (time.Duration, bool) {
	g.stored.mu.Lock()
	defer g.stored.mu.Unlock()
	e := g.stored.ring[index%storedSize]
	if e.index != index || e.term != term || index == 0 {
		return 0, false
	}
	return e.at, true
}
