package node

import (
	"context"
	"time"
)

// renewSnapshotTime bounds how long one attempt waits for a newer entry.
const renewSnapshotTime = 30 * time.Second

// renewSnapshot takes a snapshot with a newer index than the last, for a
// follower whose log has no entry in common with this leader's and which has
// the last snapshot already. It does not block. One is taken at a time, and at
// most one more is waited for.
func (n *Node) renewSnapshot() {
	if !n.renewing.CompareAndSwap(false, true) {
		return
	}
	started := n.background.start(func() {
		defer n.renewing.Store(false)
		ctx, cancel := context.WithTimeout(n.ctx, renewSnapshotTime)
		defer cancel()
		_, err := n.readIndex(ctx) // an entry, so that the snapshot is newer
		if err == nil {
			// It is taken by now or being taken. Nobody waits for its end: Raft
			// never tells it if the disk fails meanwhile.
			n.raft.Load().Snapshot()
		}
		n.log.Info("asked for a snapshot for a follower without any entry in common", "error", err)
	})
	if !started {
		n.renewing.Store(false)
	}
}
