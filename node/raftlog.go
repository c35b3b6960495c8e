package node

import (
	"context"
	"slices"

	"github.com/hashicorp/go-hclog"
)

// absences are what Raft and its transport report as errors when a peer is not
// there, or follows another leader by now, which is nothing that failed on this
// node.
var absences = []string{
	"failed to heartbeat to",
	"failed to appendEntries to",
	"failed to make requestVote RPC",
	"failed to decode incoming command",
	"failed to flush response",
	"peer has newer term, stopping replication",
}

// A raftLog is a logger for Raft, whose errors are those that somebody should
// look at: a peer that is not there is a warning, and what comes of stopping
// this node is a detail.
type raftLog struct {
	hclog.Logger
	ctx context.Context // ends when the node stops
}

// Error is hclog.Logger's.
func (l raftLog) Error(msg string, args ...any) {
	switch {
	case l.ctx.Err() != nil:
		l.Debug(msg, args...)
	case slices.Contains(absences, msg):
		l.Warn(msg, args...)
	default:
		l.Logger.Error(msg, args...)
	}
}

// With is hclog.Logger's.
func (l raftLog) With(args ...any) hclog.Logger { return raftLog{l.Logger.With(args...), l.ctx} }

// Named is hclog.Logger's.
func (l raftLog) Named(name string) hclog.Logger { return raftLog{l.Logger.Named(name), l.ctx} }

// ResetNamed is hclog.Logger's.
func (l raftLog) ResetNamed(name string) hclog.Logger {
	return raftLog{l.Logger.ResetNamed(name), l.ctx}
}
