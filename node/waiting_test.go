package node_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/node"
)

// A node that can't serve yet says in its status what it waits for, in one
// sentence.
func TestStatusSaysWhatTheNodeWaitsFor(t *testing.T) {
	nobody := freeAddr(t)
	for name, c := range map[string]struct {
		id, join string
		peers    []node.Peer
		says     string
	}{
		"founder":          {id: "n1", peers: []node.Peer{{ID: "n1", Addr: freeAddr(t)}, {ID: "n2", Addr: nobody}}, says: "the cluster is not founded: n2 at " + nobody + " does not answer: "},
		"other than that":  {id: "n2", peers: []node.Peer{{ID: "n1", Addr: nobody}, {ID: "n2", Addr: freeAddr(t)}}, says: "this node waits to be told of the founding by n1, "},
		"one that joins":   {id: "n4", join: nobody, says: "this node is not a member yet: " + nobody + " does not let it in: "},
		"in no time ready": {id: "n1", peers: []node.Peer{{ID: "n1", Addr: freeAddr(t)}}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := node.Config{ID: c.id, Listen: "127.0.0.1:0", Join: c.join, Peers: c.peers, Storage: node.MemoryStorage(), ElectionTimeout: 200 * time.Millisecond}
			for _, p := range c.peers {
				if p.ID == c.id {
					cfg.Listen = p.Addr
				}
			}
			n, err := node.Open(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer n.Close()
			var s tenure.Status
			for ctx := within(t, 20*time.Second); ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
				if s = n.Status(); c.says != "" && strings.HasPrefix(s.WaitsFor, c.says) || c.says == "" && s.WaitsFor == "" {
					break
				}
			}
			if !strings.HasPrefix(s.WaitsFor, c.says) || strings.Contains(s.WaitsFor, "unavailable") || c.says == "" && s.WaitsFor != "" {
				t.Errorf("waits for %q, want %q...", s.WaitsFor, c.says)
			}
		})
	}
}
