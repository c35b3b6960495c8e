package node_test

import (
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure"
)

// A configuration that was read under one leadership is not confirmed by a
// later one, of the same node neither: what lies between is not known.
func TestMembersAreNotConfirmedByAnotherLeadership(t *testing.T) {
	c := newCluster(t, 3)
	ctx := within(t, 60*time.Second)
	leader := c.leader()
	id, other := leader.Status().ID, c.others(leader)[0].Status().ID
	read := func() (raft.Configuration, error) { return raft.Configuration{}, nil }
	if _, err := leader.Confirmed(ctx, read); err != nil {
		t.Fatalf("under one leadership: %v", err)
	}
	_, err := leader.Confirmed(ctx, func() (raft.Configuration, error) {
		for _, to := range []string{other, id} {
			for c.leader().Status().ID != to && ctx.Err() == nil {
				_ = c.leader().Transfer(ctx, to) // tried until it is done
			}
		}
		// The new leadership could confirm it: it commits an entry.
		if _, err := acquire(ctx, leader, "k", "o", "1", time.Minute, 0); err != nil || leader.Status().Role != tenure.RoleLeader {
			t.Fatalf("%s does not lead again: %v", id, err)
		}
		return read()
	})
	if err == nil {
		t.Error("a later leadership confirmed what was read before it")
	}
}
