package node

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// Bounds of the steps of a shutdown; with the two seconds of the storage they are
// well under 5 s.
const (
	handOverTime  = time.Second
	handOverPoll  = 2 * time.Millisecond
	drainTime     = 300 * time.Millisecond
	raftTime      = 300 * time.Millisecond // taken twice
	goroutineTime = 300 * time.Millisecond
)

// handOver gives leadership to another voter, so that nobody waits for an
// election. It is worth one try of bounded length.
func (n *Node) handOver() {
	r := n.raft.Load()
	if r == nil || n.Err() != nil || r.State() != raft.Leader || n.voters() < 2 || n.guard.Stalled() {
		return
	}
	// Not by the transfer's future: Raft never answers it if its main loop
	// stands in a broken disk, and whoever waits for it is left behind.
	r.LeadershipTransfer()
	deadline := time.Now().Add(handOverTime)
	for r.State() == raft.Leader {
		if time.Now().After(deadline) {
			n.log.Warn("closing without a hand-over of leadership: no other node took it in time")
			return
		}
		time.Sleep(handOverPoll)
	}
	n.log.Info("handed leadership over")
}

// teardown stops what open started, once, and waits until it has stopped.
func (n *Node) teardown() error {
	var err error
	n.closing.Do(func() {
		err = n.shutdown()
		close(n.closed)
	})
	<-n.closed
	return err
}

// shutdown goes from the outside in: no more requests, no more proposals, no
// Raft, no storage. Raft is given nothing to answer that it could forget, since
// its futures may never be answered after a shutdown.
func (n *Node) shutdown() error {
	n.stop(ErrClosed)
	<-n.returned // a node that fails while it is opened is torn down afterwards
	if n.port == nil {
		return n.closeStorage()
	}
	n.http.Close()
	within(drainTime, n.proposals.wait)
	var stopped raft.Future
	if r := n.raft.Load(); r != nil {
		stopped = r.Shutdown()
		within(raftTime, func() { _ = n.transport.Close() }) // ends what Raft still sends
	}
	n.links.close()
	n.ring.Close()
	err := n.port.Close()
	if stopped != nil && !within(raftTime, func() { _ = stopped.Error() }) {
		n.log.Warn("Raft did not stop in time")
	}
	if !within(goroutineTime, n.background.wait) {
		n.log.Warn("a goroutine of the node did not stop in time")
	}
	if closing := n.closeStorage(); closing != nil {
		return closing
	}
	return err
}

func (n *Node) closeStorage() error {
	if n.guard == nil {
		return nil
	}
	return n.guard.Close()
}

// within runs f and reports whether it returned in time. f goes on otherwise.
func within(d time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// WaitReady blocks until the node can serve, or returns why it never will: what
// it still waits for when ctx ends, or what made it fail.
func (n *Node) WaitReady(ctx context.Context) error {
	poll := time.NewTicker(readyPoll)
	defer poll.Stop()
	for {
		err := n.Ready()
		if err == nil {
			return nil
		}
		select {
		case <-poll.C:
		case <-n.failed:
			return n.Err()
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", err, ctx.Err())
		}
	}
}

const readyPoll = 10 * time.Millisecond
