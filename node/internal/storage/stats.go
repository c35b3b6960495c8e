package storage

import (
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// WriteStats count the writes of entries since the stores were opened.
type WriteStats struct {
	Writes  uint64        // each of one or more entries
	Entries uint64        // that they stored
	Bytes   uint64        // of the entries' data
	Total   time.Duration // that they took together
	Longest time.Duration // that one of them took
}

type writeStats struct {
	writes, entries, bytes, total, longest atomic.Int64
}

func (s *writeStats) note(logs []*raft.Log, took time.Duration) {
	bytes := 0
	for _, log := range logs {
		bytes += len(log.Data)
	}
	s.writes.Add(1)
	s.entries.Add(int64(len(logs)))
	s.bytes.Add(int64(bytes))
	s.total.Add(int64(took))
	for {
		longest := s.longest.Load()
		if int64(took) <= longest || s.longest.CompareAndSwap(longest, int64(took)) {
			return
		}
	}
}

// WriteStats returns the counts so far.
func (g *Guarded) WriteStats() WriteStats {
	return WriteStats{
		Writes:  uint64(g.writes.writes.Load()),
		Entries: uint64(g.writes.entries.Load()),
		Bytes:   uint64(g.writes.bytes.Load()),
		Total:   time.Duration(g.writes.total.Load()),
		Longest: time.Duration(g.writes.longest.Load()),
	}
}
