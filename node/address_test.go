package node_test

import (
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/node"
)

// A node that is started again with another address tells the cluster, leader
// or not, and takes part as before.
func TestNodeWithANewAddress(t *testing.T) {
	moved := map[string]string{}
	c := newClusterWith(t, 3, func(cfg *node.Config) {
		if addr := moved[cfg.ID]; addr != "" {
			cfg.Listen = addr
		}
	})
	ctx := within(t, 60*time.Second)
	for _, n := range []*node.Node{c.others(c.leader())[0], c.leader()} {
		id := n.Status().ID
		n.Close()
		moved[id] = freeAddr(t)
		n = c.open(id)
		for n.Status().Role != tenure.RoleFollower || address(t, c.leader(), id) != moved[id] {
			if ctx.Err() != nil {
				t.Fatalf("%s is at %s, and the cluster says %s", id, moved[id], address(t, c.leader(), id))
			}
			time.Sleep(20 * time.Millisecond)
		}
		if len(voters(t, c.leader())) != 3 {
			t.Errorf("%s has lost its vote", id)
		}
		// It follows the log where it is now.
		if _, err := acquire(ctx, c.leader(), id, "o", "1", time.Minute, 0); err != nil {
			t.Fatal(err)
		}
		if v, err := n.Get(ctx, id); err != nil || v.Record.Owner != "o" {
			t.Errorf("%s answers %+v, %v", id, v, err)
		}
	}
	if len(moved) != 2 {
		t.Errorf("nodes that moved: %v, want two", moved)
	}
}

// A cluster of one finds itself at its new address.
func TestOnlyNodeWithANewAddress(t *testing.T) {
	addr := ""
	c := newClusterWith(t, 1, func(cfg *node.Config) {
		if addr != "" {
			cfg.Listen = addr
		}
	})
	c.leader().Close()
	addr = freeAddr(t)
	c.open("n1")
	for ctx := within(t, 20*time.Second); address(t, c.leader(), "n1") != addr; time.Sleep(20 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("the node is at %s, and says %s", addr, address(t, c.leader(), "n1"))
		}
	}
}

// address returns the address of a member.
func address(t *testing.T, n *node.Node, id string) string {
	t.Helper()
	members, err := n.Members(within(t, 10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		if m.ID == id {
			return m.Addr
		}
	}
	return ""
}
