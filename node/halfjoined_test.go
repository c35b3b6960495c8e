package node_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/node"
)

// A node is let in as a nonvoter, and the leader loses its leadership before it
// can give it a vote. However surely Raft refuses the vote, the join is not
// 'not applied': the node is a member.
func TestJoinWithoutAVoteMayBeApplied(t *testing.T) {
	c := newCluster(t, 3)
	ctx := within(t, 60*time.Second)
	leader := c.leader()
	disk := stuckLog{node.MemoryStorage(), make(chan struct{})}
	// The joiner's own ask goes to a port at which nobody listens: only the
	// leader's counts.
	joiner, err := node.Open(context.Background(), node.Config{ID: "n4", Listen: freeAddr(t), Join: freeAddr(t), Storage: disk, ElectionTimeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { joiner.Close() })
	joined := make(chan error, 1)
	go func() { joined <- leader.Join(ctx, "n4", joiner.Addr(), false) }()
	for len(leader.Status().Members) < 4 && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	for leader.Status().Role == tenure.RoleLeader && ctx.Err() == nil {
		_ = leader.Transfer(ctx, c.others(leader)[0].Status().ID)
	}
	close(disk.freed)
	var u *tenure.UnavailableError
	if err := <-joined; !errors.As(err, &u) || !u.MaybeApplied || !strings.Contains(err.Error(), "nonvoter until it joins again") {
		t.Errorf("the join was told %v, want unavailable and maybe applied", err)
	}
	if got := voters(t, c.leader()); len(got) != 3 {
		t.Errorf("the voters are %v", got)
	}
	if err := c.leader().Join(ctx, "n4", joiner.Addr(), false); err != nil {
		t.Errorf("joining again: %v", err)
	}
}

// What is asked on the leader itself is answered in the vocabulary, too. Here no
// entry confirms the members, so that nothing is begun.
func TestMembershipErrorsOnTheLeader(t *testing.T) {
	c := newCluster(t, 3)
	leader := c.leader()
	for _, n := range c.others(leader) {
		n.Close()
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for what, err := range map[string]error{
		"join":   leader.Join(ended, "n4", freeAddr(t), false),
		"remove": leader.Remove(ended, "n2"),
	} {
		var u *tenure.UnavailableError
		if !errors.As(err, &u) || u.MaybeApplied || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want unavailable and not applied, because the call was cancelled", what, err)
		}
	}
}
