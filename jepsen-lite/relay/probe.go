package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

const (
	// silence is how long nothing must arrive for a probe to believe in a
	// cut.
	silence = 50 * time.Millisecond
	// longDelay is a delay that a probe does not wait out: that nothing
	// arrives for so long is enough.
	longDelay = 200 * time.Millisecond
	// patience is how long a probe waits for what has to arrive, on top of
	// what the faults that stand make of it: on a busy machine everything
	// takes its time.
	patience = 10 * time.Second
	// probeBytes is the most that a probe of a throttled way sends.
	probeBytes = 64 << 10
)

// Verify tries with real connections whether what passes from one host to
// another is what the faults that stand let pass. It opens them as both hosts
// do, as far as they have a place, and blocks for some tenths of a second, or
// longer where a rate is below a kilobyte a second or faults come and go. Where
// neither has a place nothing passes anyway.
func (n *Net) Verify(ctx context.Context, from, to string) error {
	w := n.way(from, to)
	for {
		before := w.now()
		err := n.verify(ctx, from, to, &before)
		if w.now().version == before.version || ctx.Err() != nil {
			return err
		}
	}
}

func (n *Net) verify(ctx context.Context, from, to string, s *state) error {
	n.mu.Lock()
	_, there := n.placed[to] // be it nowhere now
	_, back := n.placed[from]
	n.mu.Unlock()
	var probes sync.WaitGroup
	var thereErr, backErr error
	if there {
		probes.Go(func() { thereErr = n.probe(ctx, from, to, func(p *probe) error { return s.agrees(p.near, p.far) }) })
	}
	if back {
		probes.Go(func() { backErr = n.probe(ctx, to, from, func(p *probe) error { return s.agrees(p.far, p.near) }) })
	}
	probes.Wait()
	if err := errors.Join(thereErr, backErr); err != nil {
		return fmt.Errorf("from %s to %s: %w", from, to, err)
	}
	return nil
}

// agrees sends something and the end of all, and reports what does not arrive
// as the faults have it.
func (s *state) agrees(sender, receiver *net.TCPConn) error {
	size := int64(1)
	if rate := s.rate(); rate > 0 {
		size = min(max(2, rate/4), probeBytes)
	}
	begun := time.Now()
	if _, err := sender.Write(make([]byte, size)); err != nil {
		return err
	}
	if err := sender.CloseWrite(); err != nil {
		return err
	}
	switch {
	case s.cuts > 0:
		return isSilent(receiver, time.Now().Add(silence), "is cut")
	case s.delay > longDelay:
		// From the sending on: a probe that comes late must not see what was due.
		return isSilent(receiver, begun.Add(longDelay), fmt.Sprintf("is slowed by %v", s.delay))
	}
	_ = receiver.SetReadDeadline(begun.Add(s.delay + s.jitter + patience))
	if _, err := io.ReadFull(receiver, make([]byte, size)); err != nil {
		return fmt.Errorf("nothing passes: %w", err)
	}
	if takes := time.Since(begun); takes < s.least(size) {
		return fmt.Errorf("%d bytes take %v, which is less than %v", size, takes, s.least(size))
	}
	if s.halfOpen > 0 {
		return isSilent(receiver, time.Now().Add(silence), "is half open")
	}
	if _, err := receiver.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("the end does not pass: %w", orNil(err))
	}
	return nil
}

// least returns what so many bytes have to take: of a throttled way half of the
// time, since what goes at once needs none.
func (s *state) least(size int64) time.Duration {
	if rate := s.rate(); rate > 0 {
		return s.delay + time.Duration(float64(size)/float64(rate)*float64(time.Second)/2)
	}
	return s.delay
}

func isSilent(c *net.TCPConn, until time.Time, why string) error {
	_ = c.SetReadDeadline(until)
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("it %s, and something arrives: %w", why, orNil(err))
	}
	return nil
}

func orNil(err error) error {
	if err == nil {
		return errors.New("a byte")
	}
	return err
}

// Reset breaks every connection between two hosts now, whoever opened it, and
// tells both ends. One of its own that survives is an error.
func (n *Net) Reset(ctx context.Context, a, b string) error {
	from, to := a, b
	n.mu.Lock()
	if _, placed := n.placed[b]; !placed {
		from, to = b, a
	}
	n.mu.Unlock()
	return n.probe(ctx, from, to, func(p *probe) error {
		n.between(a, b, p, (*connection).reset)
		for _, c := range []*net.TCPConn{p.near, p.far} {
			_ = c.SetReadDeadline(time.Now().Add(patience))
			if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				return fmt.Errorf("a connection between %s and %s was reset and stands", a, b)
			}
		}
		return nil
	})
}

// A probe is both ends of a connection through a relay.
type probe struct {
	listener  *net.TCPListener // stands for the host that is dialled
	near, far *net.TCPConn
}

// probe opens a connection as from does to to, and calls f with it. No fault
// keeps it from being opened: it is what passes then that is probed.
func (n *Net) probe(ctx context.Context, from, to string, f func(*probe) error) error {
	r, err := n.route(from, to, 0)
	if err != nil {
		return err
	}
	p := &probe{}
	if p.listener, err = net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	defer p.listener.Close()
	if err := n.dial(ctx, p, r.addr()); err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	defer reset(p.near)
	_ = p.listener.SetDeadline(time.Now().Add(patience))
	p.far, err = p.listener.AcceptTCP()
	n.forget(p) // before its address can be that of another connection
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	defer reset(p.far)
	return f(p)
}

func (n *Net) dial(ctx context.Context, p *probe, addr string) (err error) {
	n.probing.Lock()
	defer n.probing.Unlock()
	if p.near, err = dial(ctx, addr); err == nil {
		n.probes[ends(p.near.LocalAddr(), p.near.RemoteAddr())] = p
	}
	return err
}

// ends names a connection. The opener's address alone does not: the system gives
// one port to connections that lead to different places.
func ends(opener, listener net.Addr) string { return opener.String() + ">" + listener.String() }

func (n *Net) forget(p *probe) {
	n.probing.Lock()
	defer n.probing.Unlock()
	delete(n.probes, ends(p.near.LocalAddr(), p.near.RemoteAddr()))
}
