package virtual

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A half-open connection ends at its far end only: the near end writes to
// nobody until it breaks, or until the heal, from when on it is answered by a
// reset.
func TestHalfOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNet(1)
		talks, far := pair(t, n)
		silent, farToo := n.Pair("a", "b")
		_, heal := n.HalfOpen("a", "b")
		for _, c := range []interface{ Read([]byte) (int, error) }{far, farToo} {
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the far end: %v", err)
			}
		}
		send(t, talks, "to nobody")
		_ = talks.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := talks.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the near end: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := n.Host("a").Dial(ctx, "b:1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a dial to a host that has vanished: %v", err)
		}
		heal()
		_ = talks.SetReadDeadline(time.Time{})
		if _, err := talks.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("one that had sent, after the heal: %v", err)
		}
		_ = silent.SetReadDeadline(time.Now().Add(time.Hour))
		if _, err := silent.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("one that had sent nothing, after the heal: %v", err)
		}
		send(t, silent, "who?")
		if _, err := silent.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("one that sends after the heal: %v", err)
		}
		again, _ := pair(t, n)
		_, heal = n.HalfOpen("a", "b")
		defer heal()
		send(t, again, "to nobody")
		begun := time.Now()
		if _, err := again.Read(make([]byte, 1)); !errors.Is(err, syscall.ETIMEDOUT) || time.Since(begun) != brokenAfter {
			t.Errorf("what is never acknowledged ends after %v with %v", time.Since(begun), err)
		}
	})
}

// A reset ends what is between two hosts, at both ends, and nothing else.
func TestReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNet(1)
		near, far := pair(t, n)
		other, end := n.Pair("a", "c")
		n.Reset("b", "a")
		for _, c := range []interface{ Read([]byte) (int, error) }{near, far} {
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("got %v", err)
			}
		}
		send(t, other, "still here")
		receive(t, end, "still here")
	})
}

// A throttled link passes so many bytes a second.
func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNet(1)
		near, far := n.Pair("a", "b")
		slow, slower := n.Throttle("a", "b", 1000), n.Throttle("a", "b", 100)
		send(t, near, string(make([]byte, 100)))
		if took := receive(t, far, string(make([]byte, 100))); took < time.Second {
			t.Errorf("100 bytes at 100 a second took %v", took)
		}
		slower()
		send(t, near, string(make([]byte, 1000)))
		send(t, near, string(make([]byte, 1000)))
		if took := receive(t, far, string(make([]byte, 2000))); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("2000 bytes at 1000 a second took %v", took)
		}
		slow()
		send(t, near, "fast")
		if took := receive(t, far, "fast"); took > latency+jitter {
			t.Errorf("after the heal it took %v", took)
		}
	})
}

// A process that stands still neither reads nor sends nor accepts, and its
// system takes what comes for it.
func TestFreeze(t *testing.T) {
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
		host.Freeze()
		host.Freeze() // by two faults
		thaw := time.Now().Add(time.Minute)
		time.AfterFunc(time.Second, host.Thaw)
		time.AfterFunc(time.Minute, host.Thaw)
		send(t, far, "held")
		send(t, near, "waits")
		if _, err := n.Host("a").Dial(t.Context(), "b:1"); err != nil {
			t.Errorf("its system does not take a connection: %v", err)
		}
		accepted := make(chan time.Time, 1)
		go func() {
			_, _ = l.Accept()
			accepted <- time.Now()
		}()
		receive(t, far, "waits")
		if time.Now().Before(thaw) {
			t.Errorf("it read %v too early", time.Until(thaw))
		}
		receive(t, near, "held")
		if early := time.Until(thaw.Add(latency)); early > 0 {
			t.Errorf("it sent %v too early", early)
		}
		if at := <-accepted; at.Before(thaw) {
			t.Errorf("it accepted %v too early", thaw.Sub(at))
		}
	})
}
