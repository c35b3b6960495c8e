package port

import (
	"net"
	"sync"
	"time"
)

// A handover is a net.Listener whose connections come from the port.
type handover struct {
	addr   net.Addr
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newHandover(addr net.Addr) *handover {
	return &handover{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// give blocks until the connection is accepted. It closes it if that doesn't
// happen in time, or will not.
func (h *handover) give(c net.Conn, patience time.Duration) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case h.conns <- c:
		return
	case <-h.closed:
	case <-timer.C:
	}
	_ = c.Close()
}

// Accept is net.Listener's.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case <-h.closed:
		return nil, net.ErrClosed
	default:
	}
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close is net.Listener's. It closes no connection.
func (h *handover) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr is net.Listener's.
func (h *handover) Addr() net.Addr { return h.addr }
