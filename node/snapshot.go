package node

import (
	"context"
	"time"
)

// renewSnapshotTime bounds one attempt to take a newer snapshot.
const renewSnapshotTime = 30 * time.Second

// renewSnapshot takes a snapshot with a newer index than the last, for a
// follower whose log has no entry in common with this leader's and which has
// the last snapshot already. It does not block, and takes one at a time.
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
			err = await(ctx, n, n.raft.Load().Snapshot())
		}
		n.log.Info("took a snapshot for a follower without any entry in common", "error", err)
	})
	if !started {
		n.renewing.Store(false)
	}
}
