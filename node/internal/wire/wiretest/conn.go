package wiretest

import (
	"net"
	"time"
)

// A Conn is one end of a buffered connection.
type Conn struct {
	in, out       *flow
	local, remote Addr
}

// An Addr is the address of a host, or of a listener.
type Addr string

// Network returns "mem".
func (Addr) Network() string { return "mem" }

// String returns the address.
func (a Addr) String() string { return string(a) }

// Pipe returns the two ends of a connection.
func Pipe() (*Conn, *Conn) { return pipe("a", "b") }

func pipe(a, b Addr) (*Conn, *Conn) {
	there, back := newFlow(), newFlow()
	return &Conn{in: back, out: there, local: a, remote: b}, &Conn{in: there, out: back, local: b, remote: a}
}

// Hold stops what passes in both directions, as a pulled cable does: written
// bytes are kept, up to a buffer's size, and a close isn't noticed at the other
// end. Hold(false) lets all of it through.
func (c *Conn) Hold(hold bool) {
	c.in.set(func() { c.in.held = hold })
	c.out.set(func() { c.out.held = hold })
}

// Read is net.Conn's.
func (c *Conn) Read(p []byte) (int, error) { return c.in.take(p) }

// Write is net.Conn's.
func (c *Conn) Write(p []byte) (int, error) { return c.out.put(p) }

// Close is net.Conn's. The other end reads what was written before, then EOF.
func (c *Conn) Close() error {
	c.out.set(func() { c.out.shut = true })
	c.in.set(func() { c.in.gone = true })
	c.in.limit(&c.in.read, time.Time{})
	c.out.limit(&c.out.write, time.Time{})
	return nil
}

// LocalAddr is net.Conn's.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr is net.Conn's.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline is net.Conn's.
func (c *Conn) SetDeadline(at time.Time) error {
	c.in.limit(&c.in.read, at)
	c.out.limit(&c.out.write, at)
	return nil
}

// SetReadDeadline is net.Conn's.
func (c *Conn) SetReadDeadline(at time.Time) error {
	c.in.limit(&c.in.read, at)
	return nil
}

// SetWriteDeadline is net.Conn's.
func (c *Conn) SetWriteDeadline(at time.Time) error {
	c.out.limit(&c.out.write, at)
	return nil
}
