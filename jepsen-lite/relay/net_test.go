package relay_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/relay"
)

// A pair is host a, which dials, and host b, which listens, with a relay
// between them.
type pair struct {
	*testing.T
	net *relay.Net
	b   *net.TCPListener
}

func newPair(t *testing.T) pair {
	p := pair{T: t, net: relay.New(), b: listen(t)}
	p.net.Place("b", p.b.Addr().String())
	t.Cleanup(func() {
		if err := p.net.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func listen(t *testing.T) *net.TCPListener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.(*net.TCPListener)
}

// dial returns a's end of a new connection, which b need not have accepted.
func (p pair) dial() *net.TCPConn {
	addr, err := p.net.Address("a", "b", 0)
	if err != nil {
		p.Fatal(err)
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

func (p pair) accept() *net.TCPConn {
	p.b.SetDeadline(time.Now().Add(10 * time.Second))
	c, err := p.b.AcceptTCP()
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { c.Close() })
	return c
}

func (p pair) connect() (a, b *net.TCPConn) {
	a = p.dial()
	return a, p.accept()
}

func (p pair) send(c net.Conn, text string) {
	p.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		p.Fatal(err)
	}
}

func (p pair) receives(c net.Conn, text string) {
	p.Helper()
	got := make([]byte, len(text))
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != text {
		p.Fatalf("got %q, %v; want %q", got, err, text)
	}
}

func (p pair) receivesNothing(c net.Conn) {
	p.Helper()
	c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		p.Fatalf("got %d bytes, %v; want nothing", n, err)
	}
}

func (p pair) ends(c net.Conn, how error) {
	p.Helper()
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, err := c.Read(make([]byte, 1))
	if how != nil && !errors.Is(err, how) || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		p.Fatalf("it ends with %v, want %v", err, how)
	}
}

// verify probes both ways.
func (p pair) verify() {
	p.Helper()
	for _, way := range [][2]string{{"a", "b"}, {"b", "a"}} {
		if err := p.net.Verify(p.Context(), way[0], way[1]); err != nil {
			p.Fatal(err)
		}
	}
}

// Without a fault a relay is a wire: bytes, half closes and resets pass.
func TestWire(t *testing.T) {
	p := newPair(t)
	a, b := p.connect()
	p.send(a, "ping")
	p.receives(b, "ping")
	long := strings.Repeat("pong", 1<<18)
	go io.WriteString(b, long) // what it can't send is missing at a
	p.receives(a, long)
	a.CloseWrite()
	p.ends(b, io.EOF)
	p.send(b, "after the half close")
	p.receives(a, "after the half close")
	b.SetLinger(0)
	b.Close()
	p.ends(a, nil)
	p.verify()
	if made := p.net.Made(); made != 1 {
		t.Errorf("%d connections were made, want 1: probes do not count", made)
	}
}

func TestNobodyListens(t *testing.T) {
	p := newPair(t)
	p.b.Close()
	p.net.Place("b")
	addr, err := p.net.Address("a", "b", 0)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", addr); err == nil { // or it is reset already
		p.ends(c, nil)
		c.Close()
	}
	p.b = listen(t)
	p.net.Place("b", p.b.Addr().String())
	a, b := p.connect()
	p.send(a, "x")
	p.receives(b, "x")
}

// A host may have several ports, each with relays of its own.
func TestPorts(t *testing.T) {
	p := newPair(t)
	second := listen(t)
	p.net.Place("b", p.b.Addr().String(), second.Addr().String())
	addr, err := p.net.Address("a", "b", 1)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := p.net.Address("a", "b", 1); err != nil || again != addr {
		t.Errorf("the address is %s and then %s, %v", addr, again, err)
	}
	a, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	p.b = second
	p.send(a, "x")
	p.receives(p.accept(), "x")
}

// A cut holds one way on connections that either side uses, new ones included,
// and what was sent arrives after the heal.
func TestCut(t *testing.T) {
	p := newPair(t)
	a, b := p.connect()
	heal := p.net.Cut("b", "a")
	p.verify()
	p.send(a, "ask")
	p.receives(b, "ask")
	p.send(b, "answer")
	b.Close()
	p.receivesNothing(a)
	late := p.dial()
	p.send(late, "late")
	heal()
	p.verify()
	p.receives(a, "answer")
	p.ends(a, io.EOF)
	p.receives(p.accept(), "late")
}

func TestSlow(t *testing.T) {
	p := newPair(t)
	a, b := p.connect()
	heal := p.net.Slow("a", "b", 100*time.Millisecond, 10*time.Millisecond)
	p.verify()
	begun := time.Now()
	p.send(a, "x")
	p.receives(b, "x")
	if took := time.Since(begun); took < 100*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	heal()
	p.verify()
}

func TestThrottled(t *testing.T) {
	p := newPair(t)
	a, b := p.connect()
	heal := p.net.Throttle("a", "b", 1000)
	p.verify()
	begun := time.Now()
	p.send(a, strings.Repeat("x", 200))
	p.receives(b, strings.Repeat("x", 200))
	if took := time.Since(begun); took < 150*time.Millisecond {
		t.Errorf("200 bytes took %v at 1,000 a second", took)
	}
	p.send(b, "the other way")
	p.receives(a, "the other way")
	heal()
	p.verify()
}

// A half-open connection stands for one end, which gets no answer and no word,
// while the other end has lost it. After the heal it is told.
func TestHalfOpen(t *testing.T) {
	p := newPair(t)
	a, b := p.connect()
	heal := p.net.HalfOpen("a", "b")
	p.verify()
	p.ends(b, nil)
	p.send(a, "is anybody there")
	p.receivesNothing(a)
	late := p.dial()
	p.send(late, "late")
	p.receivesNothing(late)
	heal()
	p.verify()
	p.ends(a, nil)
	p.receives(p.accept(), "late")
}

func TestReset(t *testing.T) {
	p := newPair(t)
	a, b := p.connect()
	if err := p.net.Reset(t.Context(), "b", "a"); err != nil {
		t.Fatal(err)
	}
	p.ends(a, nil)
	p.ends(b, nil)
	p.verify()
}

// What breaks the connections of hosts spares the probes of other faults.
func TestResetSparesProbes(t *testing.T) {
	p := newPair(t)
	p.net.Throttle("a", "b", 1000)
	verified := make(chan error)
	go func() { verified <- p.net.Verify(t.Context(), "a", "b") }()
	for {
		select {
		case err := <-verified:
			if err != nil {
				t.Error(err)
			}
			return
		default:
			if err := p.net.Reset(t.Context(), "a", "b"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Many probes at once don't get into each other's way.
func TestManyProbes(t *testing.T) {
	p := newPair(t)
	p.net.Place("a", p.b.Addr().String())
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for range 5 {
				if err := p.net.Verify(t.Context(), "a", "b"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// Faults of one way add up, and a probe is content with all of them together.
func TestTogether(t *testing.T) {
	p := newPair(t)
	heals := []func(){
		p.net.Cut("a", "b"), p.net.Cut("a", "b"), p.net.Slow("a", "b", time.Millisecond, 0), p.net.Slow("a", "b", 20*time.Millisecond, time.Millisecond),
		p.net.Throttle("a", "b", 100_000), p.net.HalfOpen("a", "b"), p.net.Throttle("a", "b", 10_000),
	}
	for _, heal := range heals {
		p.verify()
		heal()
		heal() // again: nothing
	}
	p.verify()
}

// Close ends what stands, under faults too, and nothing can be had after it.
func TestClose(t *testing.T) {
	p := newPair(t)
	a, b := p.connect()
	p.net.Cut("a", "b")
	p.net.HalfOpen("a", "b")
	p.send(a, "never")
	waiting := p.dial()
	if err := p.net.Close(); err != nil {
		t.Fatal(err)
	}
	p.ends(a, nil)
	p.ends(b, nil)
	p.ends(waiting, nil)
	if _, err := p.net.Address("a", "c", 0); !errors.Is(err, relay.ErrClosed) {
		t.Errorf("an address after the end: %v", err)
	}
	if err := p.net.Verify(context.Background(), "a", "b"); err == nil {
		t.Error("a probe of what is closed agrees")
	}
}
