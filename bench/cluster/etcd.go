package cluster

import (
	"fmt"
	"net/url"
	"strings"

	"go.etcd.io/etcd/server/v3/embed"
)

type etcdServer struct{ etcd *embed.Etcd }

// openEtcd starts a server with etcd's defaults: it syncs its log.
func openEtcd(sp spec) (server, error) {
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = nodeID(sp.ID), sp.Dir
	cfg.LogLevel = "fatal"
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = urls(sp.Clients[sp.ID]), urls(sp.Clients[sp.ID])
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = urls(sp.Peers[sp.ID]), urls(sp.Peers[sp.ID])
	var members []string
	for i, addr := range sp.Peers {
		members = append(members, fmt.Sprintf("%s=http://%s", nodeID(i), addr))
	}
	cfg.InitialCluster = strings.Join(members, ",")
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, err
	}
	return etcdServer{e}, nil
}

func urls(addr string) []url.URL { return []url.URL{{Scheme: "http", Host: addr}} }

func (s etcdServer) describe(st *State) {
	select {
	case <-s.etcd.Server.ReadyNotify():
		st.Ready = true
	default:
	}
	st.Leads = st.Ready && s.etcd.Server.Leader() == s.etcd.Server.MemberID()
	st.Term = s.etcd.Server.Term()
}

func (s etcdServer) close() { s.etcd.Close() }
