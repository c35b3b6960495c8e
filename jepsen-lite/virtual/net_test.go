package virtual

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// pair returns the two ends of a connection from a to b.
func pair(t *testing.T, n *Net) (near, far net.Conn) {
	t.Helper()
	l, err := n.Host("b").Listen("b:1")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err = n.Host("a").Dial(t.Context(), "b:1")
	if err != nil {
		t.Fatal(err)
	}
	far, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return near, far
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// receive reads as many bytes as text has and returns how long that took.
func receive(t *testing.T, c net.Conn, text string) time.Duration {
	t.Helper()
	start := time.Now()
	b := make([]byte, len(text))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != text {
		t.Fatalf("got %q, %v, want %q", b, err, text)
	}
	return time.Since(start)
}

// Bytes arrive in order and after the link's latency; a slow link is slow.
func TestNetDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNet(1)
		near, far := pair(t, n)
		send(t, near, "one ")
		send(t, near, "two")
		if took := receive(t, far, "one two"); took < latency || took > 2*(latency+jitter) {
			t.Errorf("took %v", took)
		}
		n.Slow("a", "b", time.Second, time.Millisecond)
		send(t, near, "late")
		send(t, far, "soon")
		if took := receive(t, near, "soon"); took > 10*time.Millisecond {
			t.Errorf("the other way took %v", took)
		}
		if took := receive(t, far, "late"); took < 900*time.Millisecond {
			t.Errorf("the slow link took %v", took)
		}
		near.Close()
		if _, err := far.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("after a close: %v", err)
		}
		far.Close()
	})
}

// A cut link holds what is sent, one way only; healed in time it delivers.
func TestNetCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNet(1)
		near, far := pair(t, n)
		n.Cut("a", "b")
		n.Cut("a", "b") // by two faults
		send(t, near, "held")
		send(t, far, "passes")
		receive(t, near, "passes")
		if _, passes := n.ping("a", "b", pingWaits); passes {
			t.Error("a cut link passes bytes")
		}
		time.AfterFunc(2*time.Second, func() { n.Heal("a", "b") })
		time.AfterFunc(5*time.Second, func() { n.Heal("a", "b") })
		if took := receive(t, far, "held"); took < 4900*time.Millisecond {
			t.Errorf("a link that two faults cut was healed by one, after %v", took)
		}
		near.Close()
		far.Close()
	})
}

// A connection over a link that stays cut breaks at both ends.
func TestNetBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNet(1)
		near, far := pair(t, n)
		n.Cut("b", "a")
		for _, c := range []net.Conn{near, far} {
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ETIMEDOUT) {
				t.Errorf("got %v", err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := n.Host("a").Dial(ctx, "b:1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a dial across a cut: %v", err)
		}
	})
}

// A host that dies resets its connections and is heard of no more.
func TestNetDie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNet(1)
		host := n.Host("b")
		l, err := host.Listen("b:1")
		if err != nil {
			t.Fatal(err)
		}
		near, err := n.Host("a").Dial(t.Context(), "b:1")
		if err != nil {
			t.Fatal(err)
		}
		far, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		host.Die()
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the other end got %v", err)
		}
		if _, err := far.Write([]byte("x")); err == nil {
			t.Error("the dead host wrote")
		}
		if _, err := l.Accept(); err == nil {
			t.Error("the dead host accepted")
		}
		if _, err := host.Dial(t.Context(), "a:1"); err == nil {
			t.Error("the dead host dialled")
		}
		if _, err := n.Host("a").Dial(t.Context(), "b:1"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("a dial to the dead host: %v", err)
		}
		if _, err := n.Host("b").Listen("b:1"); err != nil {
			t.Errorf("the next process can't listen: %v", err)
		}
	})
}

// Deadlines end waits, and a new one lets the next read wait again.
func TestNetDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNet(1)
		near, far := pair(t, n)
		_ = near.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		_ = near.SetDeadline(time.Time{})
		send(t, far, "x")
		receive(t, near, "x")
		near.Close()
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after the own close: %v", err)
		}
		far.Close()
	})
}
