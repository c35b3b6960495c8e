package storage

import (
	"fmt"
	"runtime/debug"
)

// Go calls f on a goroutine of its own and reports how it ended: nil if f
// returned, [ErrEnded] if a failed store ended it, else an error that tells of
// its panic. What uses the stores as Raft sees them on behalf of the node, such
// as raft.NewRaft, runs inside it: elsewhere it would end the caller's
// goroutine. The channel takes the report whether or not anyone receives it; it
// may never come where the disk hangs.
func Go(f func()) <-chan error {
	done := make(chan error, 1)
	go func() {
		outcome := ErrEnded
		defer func() {
			if p := recover(); p != nil {
				outcome = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
			done <- outcome
		}()
		f()
		outcome = nil
	}()
	return done
}
