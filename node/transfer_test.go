package node_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure"
	"example.com/tenure/node"
)

// n2 is down, so that a transfer to it can't succeed; meanwhile n3 takes the
// leadership. It was not handed to n2, and the error says who has it.
func TestTransferThatEndsElsewhereIsNone(t *testing.T) {
	c := newClusterWith(t, 3, func(cfg *node.Config) { cfg.ElectionTimeout = time.Second })
	ctx := within(t, 60*time.Second)
	leader := c.leader()
	others := c.others(leader)
	wanted, other := others[0].Status().ID, others[1].Status().ID
	others[0].Close()
	told := make(chan error, 1)
	go func() { told <- leader.Transfer(ctx, wanted) }()
	// It has begun once Raft refuses entries because of it, or has refused them.
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := leader.Members(ctx); errors.Is(err, raft.ErrLeadershipTransferInProgress) {
			break
		}
	}
	for others[1].Status().Role != tenure.RoleLeader && ctx.Err() == nil {
		_ = leader.Transfer(ctx, other) // tried until Raft has given the first one up
	}
	var u *tenure.UnavailableError
	if err := <-told; !errors.As(err, &u) || !u.MaybeApplied || !strings.Contains(u.Reason, "went to "+other) {
		t.Errorf("a transfer to %s, which is down, was told %v, want unavailable, as %s leads", wanted, err, other)
	}
}

// A leader whose followers are gone has not noticed yet. What it knows by itself
// is no answer: neither that it leads, nor who the voters are.
func TestTransferIsJudgedByAConfirmedConfiguration(t *testing.T) {
	c := newClusterWith(t, 3, func(cfg *node.Config) { cfg.ElectionTimeout = 3 * time.Second })
	leader := c.leader()
	var closing sync.WaitGroup
	for _, n := range c.others(leader) {
		closing.Go(func() { n.Close() })
	}
	closing.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	var asking sync.WaitGroup
	for _, to := range []string{leader.Status().ID, "n9"} {
		asking.Go(func() {
			var u *tenure.UnavailableError
			if err := leader.Transfer(ctx, to); !errors.As(err, &u) || u.MaybeApplied {
				t.Errorf("a transfer to %s without a quorum was told %v, want unavailable and not applied", to, err)
			}
		})
	}
	asking.Wait()
}

// To transfer to the node that leads is done, and the voters are the cluster's.
func TestTransferToTheLeader(t *testing.T) {
	c := newCluster(t, 3)
	ctx := within(t, 20*time.Second)
	leader := c.leader()
	for _, n := range c.nodes {
		if err := n.Transfer(ctx, leader.Status().ID); err != nil {
			t.Errorf("asked at %s: %v", n.Status().ID, err)
		}
		if err := n.Transfer(ctx, "n9"); !errors.Is(err, tenure.ErrInvalid) {
			t.Errorf("a transfer to a node that is no member, asked at %s: %v", n.Status().ID, err)
		}
	}
	if alone := newCluster(t, 1).leader().Transfer(ctx, ""); !errors.Is(alone, tenure.ErrUnavailable) {
		t.Errorf("a transfer by the only voter: %v", alone)
	}
}
