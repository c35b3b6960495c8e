package port

import (
	"io"
	"net"
	"time"

	"example.com/tenure/node/internal/wire"
)

// accept takes connections until the port is closed. When the listener fails,
// most likely because the process has too many files open, it tries again.
func (p *Port) accept() {
	const shortest, longest = 5 * time.Millisecond, time.Second
	pause := shortest
	for {
		nc, err := p.listener.Accept()
		if err == nil {
			pause = shortest
			if c := p.conns.add(nc); c != nil {
				p.running.Go(func() { p.sort(c) })
			}
			continue
		}
		timer := time.NewTimer(pause)
		select {
		case <-p.closed:
			timer.Stop()
			return
		case <-timer.C:
		}
		p.config.Logger.Error("accepting a connection", "error", err)
		pause = min(2*pause, longest)
	}
}

// sort finds out what a connection is for, and hands it on. TLS, which begins
// with 0x16, will be told apart by the protocol that its handshake negotiates
// and not by a second look at the first byte; until then it is closed like
// everything else that is unknown.
func (p *Port) sort(c *conn) {
	p.greetings.enter(c)
	defer p.greetings.leave(c)
	if err := c.SetDeadline(time.Now().Add(p.config.GreetingTime)); err != nil {
		_ = c.Close()
		return
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(c, first); err != nil {
		_ = c.Close()
		return
	}
	c.first = first
	switch {
	case first[0] == wire.Magic[0]:
		p.greet(c)
	case first[0] >= 'A' && first[0] <= 'Z':
		p.giveHTTP(c)
	default:
		_ = c.Close()
	}
}

// overloaded is what an HTTP client is told instead of being served.
const overloaded = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

func (p *Port) giveHTTP(c *conn) {
	if !p.conns.countClient(c, p.config.MaxClients) {
		_, _ = io.WriteString(c, overloaded)
		_ = c.Close()
		return
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		_ = c.Close()
		return
	}
	p.web.give(c, p.config.GreetingTime)
}

// greet answers a hello and hands the connection on.
func (p *Port) greet(c *conn) {
	peer, err := wire.ReadHello(c)
	if err != nil {
		p.config.Logger.Debug("no hello", "from", c.RemoteAddr(), "error", err)
		_ = c.Close()
		return
	}
	self := p.self(peer.Purpose)
	streams := p.streams.Load()
	refused := p.judge(self, peer, streams, c)
	if refused != nil {
		p.config.Logger.Warn("refused a connection", "from", c.RemoteAddr(), "for", peer.Purpose, "error", refused)
	}
	err = wire.Answer(c, self, refused)
	if err == nil {
		err = c.SetDeadline(time.Time{})
	}
	if err != nil || refused != nil {
		_ = c.Close()
		return
	}
	p.greetings.leave(c)
	if peer.Purpose == wire.PurposeRaft {
		streams.give(c, peer)
		return
	}
	p.serve(c, peer)
}

// judge returns why the connection is refused, or nil.
func (p *Port) judge(self, peer wire.Hello, streams *streams, c *conn) *wire.Refused {
	if refused := wire.Check(self, peer); refused != nil {
		return refused
	}
	if refused := p.config.Judge(peer); refused != nil {
		return refused
	}
	switch {
	case peer.Purpose == wire.PurposeRaft && streams == nil:
		return &wire.Refused{Code: wire.CodeNotMember, Peer: peer, Message: "this node does not take part in Raft yet"}
	case peer.NodeID == "" && !p.conns.countClient(c, p.config.MaxClients):
		return &wire.Refused{Code: wire.CodeBusy, Peer: peer, Message: "too many clients: try another node, or later"}
	}
	return nil
}

func (p *Port) serve(c net.Conn, peer wire.Hello) {
	defer func() { _ = c.Close() }()
	p.config.Serve(c, peer)
}
