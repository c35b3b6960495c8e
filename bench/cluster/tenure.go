package cluster

import (
	"context"
	"fmt"
	"os"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure"
	"example.com/tenure/node"
	"example.com/tenure/raftwal"
)

type tenureServer struct{ node *node.Node }

func openTenure(sp spec) (server, error) {
	var peers []node.Peer
	for i, addr := range sp.Clients {
		peers = append(peers, node.Peer{ID: nodeID(i), Addr: addr})
	}
	cfg := node.Config{ID: nodeID(sp.ID), Listen: sp.Clients[sp.ID], Peers: peers, Storage: node.BoltStorage(sp.Dir)}
	if sp.Kind == TenureWAL {
		cfg.Storage = raftwal.Storage(sp.Dir)
	}
	if sp.Log != "" {
		file, err := os.OpenFile(sp.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, err
		}
		cfg.Logger = hclog.New(&hclog.LoggerOptions{Output: file})
	}
	n, err := node.Open(context.Background(), cfg)
	if err != nil {
		return nil, err
	}
	return tenureServer{n}, nil
}

func nodeID(i int) string { return fmt.Sprintf("n%d", i+1) }

func (s tenureServer) describe(st *State) {
	status := s.node.Status()
	st.Leads = status.Role == tenure.RoleLeader
	st.Ready = s.node.Ready() == nil && status.AppliedIndex > 0
	st.Term, st.Records, st.Err = status.Term, status.Records, status.Err
}

func (s tenureServer) close() { _ = s.node.Close() }
