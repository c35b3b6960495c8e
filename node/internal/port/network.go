package port

import (
	"context"
	"net"
	"time"
)

// A Network is the seam through which a node listens and dials. It must be safe
// for concurrent use.
type Network interface {
	// Listen listens on an address. An error must say which address it was.
	Listen(addr string) (net.Listener, error)
	// Dial connects to an address, and gives up when ctx ends. An error must
	// say which address it was. The connection must honour deadlines, and
	// closing it must end what blocks in it.
	Dial(ctx context.Context, addr string) (net.Conn, error)
}

// TCP returns the system's network. A connection whose other end has vanished
// breaks after about ten seconds.
func TCP() Network { return tcp{} }

type tcp struct{}

// vanished is how long data may stay without an acknowledgement, where the
// system lets us say so. keepAlive finds what is idle in about the same time.
const vanished = 10 * time.Second

var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}

func (tcp) Listen(addr string) (net.Listener, error) {
	config := net.ListenConfig{KeepAliveConfig: keepAlive}
	l, err := config.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, err
	}
	return tcpListener{l}, nil
}

func (tcp) Dial(ctx context.Context, addr string) (net.Conn, error) {
	dialer := net.Dialer{KeepAliveConfig: keepAlive}
	c, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	limitUnacknowledged(c, vanished)
	return c, nil
}

type tcpListener struct{ net.Listener }

func (l tcpListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	limitUnacknowledged(c, vanished)
	return c, nil
}
