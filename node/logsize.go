package node

import (
	"time"

	"github.com/hashicorp/raft"
)

// Raft counts the entries of its log, but an entry has from 50 bytes to 128 KiB.
// So the node measures them and turns bytes into entries: a snapshot is taken
// when the log has grown by logBytes since the last one, or by a quarter of what
// the snapshot itself will have, and half as much is kept behind it for followers
// that lag. A small log is also a fast one: bolt writes the list of all its free
// pages with each commit.
const (
	logBytes       = 16 << 20
	logShare       = 16 // bytes a record: about a quarter of what one takes in a snapshot
	logSizeEvery   = time.Second
	minThreshold   = 2 * minTrailingLogs
	entriesToJudge = 16 // fewer tell nothing of the size of entries
)

// logLimits returns how many entries lead to a snapshot and how many stay behind
// it, for entries of that average size.
func logLimits(entryBytes, records int, most uint64) (threshold, trailing uint64) {
	budget := max(logBytes, logShare*records)
	threshold = min(most, max(uint64(budget/max(entryBytes, 1)), minThreshold))
	return threshold, max(minTrailingLogs, threshold/2)
}

// boundLog keeps the limits of Raft's log in line with the size of its entries,
// until the node stops.
func (n *Node) boundLog(r *raft.Raft) {
	judged := n.guard.WriteStats()
	for n.ctx.Err() == nil {
		pause(n.ctx, logSizeEvery)
		now := n.guard.WriteStats()
		if now.Entries-judged.Entries < entriesToJudge {
			continue
		}
		records, _ := n.machine.Len()
		average := (now.Bytes - judged.Bytes) / (now.Entries - judged.Entries)
		judged = now
		limits := r.ReloadableConfig()
		threshold, trailing := logLimits(int(average), records, n.cfg.SnapshotThreshold)
		if limits.SnapshotThreshold == threshold && limits.TrailingLogs == trailing {
			continue
		}
		limits.SnapshotThreshold, limits.TrailingLogs = threshold, trailing
		if err := r.ReloadConfig(limits); err != nil {
			n.log.Error("the limits of the log were refused", "threshold", threshold, "trailing", trailing, "error", err)
		}
	}
}
