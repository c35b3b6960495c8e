package virtual

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// window is how much one direction of a connection holds before a write
// blocks.
const window = 256 << 10

// A conn is one end of a connection.
type conn struct {
	host    *Host
	in, out *flow
	peer    *conn
	alone   *orphan // nil while there is another end
	dropped error   // why this end is over, and the other one may not be
}

// A flow is one direction of a connection. The network's lock guards it.
type flow struct {
	net      *Net
	from, to string
	changed  *sync.Cond
	packets  []packet
	size     int
	last     time.Time // when the last packet arrives
	drained  time.Time // when the link has passed it, but for the delay
	waking   time.Time // when the reader will be woken
	broken   error     // at both ends, at once
	closed   bool      // by its reader
	shut     bool      // by its writer
	read     deadline
	write    deadline
}

// A packet is on its way until its instant. A close is one, too: it arrives
// after what was written before it.
type packet struct {
	data  []byte
	at    time.Time
	close error // io.EOF, or what a reset is
}

func (n *Net) pipe(a, b *Host) (near, far *conn) {
	there, back := n.flow(a.name, b.name), n.flow(b.name, a.name)
	near, far = &conn{host: a, in: back, out: there}, &conn{host: b, in: there, out: back}
	near.peer, far.peer = far, near
	n.conns[near], n.conns[far] = struct{}{}, struct{}{}
	return near, far
}

func (n *Net) flow(from, to string) *flow {
	return &flow{net: n, from: from, to: to, changed: sync.NewCond(&n.mu)}
}

func (c *conn) between(from, to string) bool {
	return c.in.from == from && c.in.to == to || c.out.from == from && c.out.to == to
}

// breakOff ends both directions at both ends.
func (c *conn) breakOff(err error) {
	for _, f := range []*flow{c.in, c.out} {
		f.broken = err
		f.changed.Broadcast()
	}
	delete(c.host.net.conns, c)
	delete(c.host.net.conns, c.peer)
}

// abort ends the connection as a dying process does: a reset is sent.
func (c *conn) abort() { c.end(syscall.ECONNRESET) }

func (c *conn) end(how error) {
	if !c.out.shut {
		c.out.shut = true
		c.send(packet{close: how})
	}
	c.in.closed = true
	c.in.changed.Broadcast()
	c.out.changed.Broadcast()
	delete(c.host.net.conns, c)
}

// send sends a packet, once the process does not stand still any more.
func (c *conn) send(p packet) {
	c.out.size += len(p.data)
	if h := c.host; h.frozen > 0 {
		h.held = append(h.held, parcel{c.out, p})
		return
	}
	c.out.send(p)
}

// send puts a packet on its way, behind those before it.
func (f *flow) send(p packet) {
	now := time.Now()
	if f.drained.Before(now) {
		f.drained = now
	}
	f.drained = f.drained.Add(f.net.link(f.from, f.to).drains(len(p.data)))
	p.at = f.drained.Add(f.net.takes(f.from, f.to))
	if p.at.Before(f.last) {
		p.at = f.last
	}
	f.last = p.at
	f.packets = append(f.packets, p)
	f.changed.Broadcast()
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	f := c.in
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	for {
		c.host.stand()
		switch {
		case f.closed || c.host.gone:
			return 0, net.ErrClosed
		case c.dropped != nil:
			return 0, c.dropped
		case f.broken != nil:
			return 0, f.broken
		case f.read.passed():
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		}
		if c.alone == nil && f.arrived() {
			return f.take(p)
		}
		f.changed.Wait()
	}
}

// arrived reports whether the first packet is there, and sees to it that the
// reader wakes when it is.
func (f *flow) arrived() bool {
	if len(f.packets) == 0 || f.net.link(f.from, f.to).cuts > 0 {
		return false
	}
	wait := time.Until(f.packets[0].at)
	if wait > 0 && !f.waking.Equal(f.packets[0].at) {
		f.waking = f.packets[0].at
		time.AfterFunc(wait, f.wake)
	}
	return wait <= 0
}

func (f *flow) wake() {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	f.changed.Broadcast()
}

func (f *flow) take(p []byte) (int, error) {
	first := &f.packets[0]
	if first.close != nil {
		return 0, first.close
	}
	n := copy(p, first.data)
	first.data = first.data[n:]
	f.size -= n
	if len(first.data) == 0 {
		f.packets = f.packets[1:]
	}
	f.changed.Broadcast()
	return n, nil
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	f := c.out
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	for {
		switch {
		case f.shut || c.host.gone:
			return 0, net.ErrClosed
		case c.dropped != nil:
			return 0, c.dropped
		case f.broken != nil:
			return 0, f.broken
		case c.alone == nil && f.closed && f.net.link(f.to, f.from).cuts == 0:
			return 0, syscall.EPIPE
		case f.write.passed():
			return 0, os.ErrDeadlineExceeded
		}
		if c.alone != nil {
			if c.sendAway(len(p)) {
				return len(p), nil
			}
		} else if f.size < window {
			if len(p) > 0 {
				c.send(packet{data: append([]byte(nil), p...)})
			}
			return len(p), nil
		}
		f.changed.Wait()
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.in.net.mu.Lock()
	defer c.in.net.mu.Unlock()
	c.end(io.EOF)
	c.in.limit(&c.in.read, time.Time{})
	c.out.limit(&c.out.write, time.Time{})
	return nil
}

// LocalAddr implements net.Conn.
func (c *conn) LocalAddr() net.Addr { return address(c.out.from) }

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return address(c.out.to) }

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.net.mu.Lock()
	defer c.in.net.mu.Unlock()
	c.in.limit(&c.in.read, t)
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.in.net.mu.Lock()
	defer c.in.net.mu.Unlock()
	c.out.limit(&c.out.write, t)
	return nil
}

// A deadline ends the waits of one side of a flow.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (f *flow) limit(d *deadline, t time.Time) {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.at = t
	if wait := time.Until(t); !t.IsZero() && wait > 0 {
		d.timer = time.AfterFunc(wait, f.wake)
	}
	f.changed.Broadcast()
}
