// Package port is a node's one listening port, with all that shares it: the
// streams of Raft, the framed API of nodes and Go clients, and HTTP. They are
// told apart by the first byte.
//
// What it guarantees:
//
//   - A slow, silent or garbling client never keeps another one waiting:
//     greetings run side by side, each under a deadline, and when there are too
//     many the oldest makes room.
//   - Raft meets only peers whose hello was checked: of this cluster, of the
//     incarnation that is meant, and let in by the node.
//   - Raft sees no request that could make it panic, or that its leader could
//     not have made; see [Transport].
//   - Close closes every connection of the port and waits for what ran on them.
//
// It decides nothing about members and keeps no state of the cluster: the node
// says who it is and whom it lets in.
//
//	p, err := port.Open(port.Config{Network: port.TCP(), Listen: "127.0.0.1:7400", Self: self, Serve: serve})
//	go server.Serve(p.HTTP())
//	transport := p.NewTransport(port.TransportConfig{Expect: expect, Applied: applied})
//	r, err := raft.NewRaft(config, fsm, logs, stable, snapshots, transport)
package port
