package node

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure/fsm"
	"example.com/tenure/node/internal/port"
	"example.com/tenure/node/internal/wire"
)

// dialTimeout bounds one attempt to connect to another node.
const dialTimeout = 2 * time.Second

// headerTime is how long a client may take to send the header of a request.
const headerTime = 10 * time.Second

// listen opens the node's port, with the API on it. Raft's streams are refused
// until the node takes part in Raft.
func (n *Node) listen() error {
	p, err := port.Open(port.Config{
		Network:   n.cfg.Network,
		Listen:    n.cfg.Listen,
		Advertise: n.cfg.Advertise,
		Self:      n.hello,
		Serve:     n.serveConn,
		Logger:    n.log.Named("port"),
	})
	if err != nil {
		return err
	}
	n.port = p
	n.links = newLinks(n.cfg.Network, func() wire.Hello {
		h := n.hello()
		h.Addr = p.Advertised()
		return h
	})
	n.http = &http.Server{
		Handler:           n.httpHandler(),
		ReadHeaderTimeout: headerTime,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return n.ctx },
		ErrorLog:          n.log.Named("http").StandardLogger(nil),
	}
	n.background.start(func() { _ = n.http.Serve(p.HTTP()) }) // returns when the port closes
	close(n.opened)
	return nil
}

// hello is what this node says of itself at the start of every connection.
func (n *Node) hello() wire.Hello {
	i := n.identity()
	return wire.Hello{ClusterID: i.ClusterID, NodeID: i.ID, Incarnation: i.Incarnation, EntryVersion: fsm.EntryVersion}
}

// serveConn serves one connection of the framed protocol.
func (n *Node) serveConn(conn net.Conn, peer wire.Hello) {
	<-n.opened
	err := wire.Serve(n.ctx, conn, wire.Config{}, handler{n})
	n.log.Debug("a connection ended", "peer", peer.NodeID, "reason", err)
}

// openTransport starts Raft's side of the port.
func (n *Node) openTransport() *port.Transport {
	return n.port.NewTransport(port.TransportConfig{
		Timeout:      transportTimeout(n.cfg.ElectionTimeout),
		Expect:       n.expect,
		Silenced:     n.guard.Stalled,
		CheckEntries: n.guard.CheckReceived,
		Applied: func() (index uint64, known bool) {
			if r := n.raft.Load(); r != nil {
				return r.AppliedIndex(), true
			}
			return 0, false
		},
		Heard:            n.heard,
		SnapshotOutdated: n.renewSnapshot,
		Logger:           raftLog{n.log.Named("transport"), n.ctx},
	})
}

// transportTimeout is how long one request of Raft's may take. A follower
// answers once its disk has synced, and while it doesn't its heartbeats wait
// behind that.
func transportTimeout(election time.Duration) time.Duration {
	return max(2*election, time.Second)
}

// expect says which server Raft's configuration has at an address. Another
// incarnation there has lost the data that the cluster counts on.
func (n *Node) expect(addr raft.ServerAddress) (id, incarnation string) {
	for _, s := range n.latest().Servers {
		if s.Address == addr {
			return splitServerID(s.ID)
		}
	}
	return "", ""
}
