package node

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// bareNode returns a node that has nothing but its life.
func bareNode() *Node {
	n := &Node{log: hclog.NewNullLogger(), started: time.Now(), returned: make(chan struct{}), closed: make(chan struct{}), failed: make(chan struct{})}
	n.ctx, n.stop = context.WithCancelCause(context.Background())
	close(n.returned)
	return n
}

// A leader that refuses entries because of a transfer of leadership gets ten
// seconds of refusals to end it, from the first one after an entry that it took;
// then the node stops (hashicorp/raft#696), also where asks are few and far
// between. Any other refusal is none of that.
func TestTransferThatNeverEndsStopsTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := bareNode()
		p := &proposer{node: n}
		refused := func() {
			if o := p.outcome(raft.ErrLeadershipTransferInProgress); o.Over || o.MaybeApplied || !errors.Is(o.Err, raft.ErrLeadershipTransferInProgress) {
				t.Errorf("a refused entry has the outcome %+v", o)
			}
		}
		for range 30 {
			p.outcome(raft.ErrEnqueueTimeout)
			time.Sleep(time.Second)
		}
		for range int(transferPatience / time.Second) {
			refused()
			time.Sleep(time.Second)
		}
		p.taken() // it ended
		refused()
		time.Sleep(transferPause + time.Second) // nobody asks, and another transfer begins
		for range 2 {
			refused()
			time.Sleep(transferPause - time.Second)
		}
		refused()
		p.taken()
		for range int(transferPatience/time.Second) + 1 {
			refused()
			if n.Err() != nil {
				t.Fatalf("the node stopped too early: %v", n.Err())
			}
			time.Sleep(time.Second)
		}
		refused()
		select {
		case <-n.Done():
		default:
			t.Fatal("the node goes on")
		}
		if err := n.Err(); !strings.Contains(err.Error(), "transfer of leadership") {
			t.Errorf("the node stopped with %v", err)
		}
		<-n.closed
	})
}

// The refusals of asks that are few and far between are added up.
func TestTransferThatNeverEndsWhileFewAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := bareNode()
		p := &proposer{node: n}
		const tries = int(transferPause/time.Second) - 1 // of an ask, one a second
		for ask := range int(transferPatience/time.Second)/(tries-1) + 1 {
			if n.Err() != nil {
				t.Fatalf("the node stopped at ask %d: %v", ask, n.Err())
			}
			for range tries {
				p.outcome(raft.ErrLeadershipTransferInProgress)
				time.Sleep(time.Second)
			}
			time.Sleep(time.Minute)
		}
		if err := n.Err(); err == nil || !strings.Contains(err.Error(), "transfer of leadership") {
			t.Errorf("the node stopped with %v", err)
		}
	})
}
