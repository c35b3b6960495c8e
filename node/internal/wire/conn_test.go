package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/tenure/node/internal/wire/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// handlerFunc is a Handler.
type handlerFunc func(*Request)

func (f handlerFunc) Handle(r *Request) { f(r) }

// echo answers every request with its payload.
var echo = handlerFunc(func(r *Request) { r.Reply(r.Payload) })

// both runs a connection between a caller and a handler, and closes it at the
// end of the test.
func both(t *testing.T, config Config, handler Handler) (*Conn, *wiretest.Conn) {
	t.Helper()
	near, far := wiretest.Pipe()
	c := NewConn(near, config)
	served := make(chan error, 1)
	go func() { served <- Serve(context.Background(), far, config, handler) }()
	t.Cleanup(func() {
		near.Hold(false)
		_ = c.Close()
		<-served
	})
	return c, near
}

// Answers come back to the calls that they belong to, in whatever order they
// are given, with operation, flags and payload intact.
func TestCallsShareAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var waiting []*Request
		c, _ := both(t, Config{}, handlerFunc(func(r *Request) {
			mu.Lock()
			defer mu.Unlock()
			waiting = append(waiting, r)
		}))
		answers := make([]string, 100)
		var calls sync.WaitGroup
		for i := range answers {
			calls.Go(func() {
				answer, err := c.Call(context.Background(), byte(i), byte(100+i), nil)
				answers[i] = fmt.Sprint(string(answer), err)
			})
		}
		synctest.Wait()
		for i := range waiting { // backwards
			r := waiting[len(waiting)-1-i]
			r.Reply(fmt.Appendf(nil, "%d/%d", r.Op, r.Flags))
		}
		calls.Wait()
		for i, answer := range answers {
			if want := fmt.Sprintf("%d/%d<nil>", i, 100+i); answer != want {
				t.Errorf("call %d: got %s, want %s", i, answer, want)
			}
		}
	})
}

// Payloads of every size up to the bound pass unchanged; one beyond it is
// refused before anything is sent, and the connection lives on.
func TestPayloadSizes(t *testing.T) {
	c, _ := both(t, Config{}, echo)
	for _, size := range []int{0, 1, readerBytes - 1, readerBytes, 3*readerBytes + 7, MaxRequest} {
		sent := bytes.Repeat([]byte{byte(size), 7, 3}, size/3+1)[:size]
		got, err := c.Call(context.Background(), 1, 0, sent)
		if err != nil || !bytes.Equal(got, sent) {
			t.Fatalf("%d bytes: got %d bytes, %v", size, len(got), err)
		}
	}
	_, err := c.Call(context.Background(), 1, 0, make([]byte, MaxRequest+1))
	var notSent *NotSent
	if !errors.As(err, &notSent) {
		t.Fatalf("too large: got %v", err)
	}
	if _, err := c.Call(context.Background(), 1, 0, nil); err != nil {
		t.Fatalf("after the refusal: %v", err)
	}
}

// A caller that gives up gets its context's error and an unknown outcome, and
// the handler learns of it; the connection lives on.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended time.Time
		var asked context.Context
		c, _ := both(t, Config{}, handlerFunc(func(r *Request) {
			if r.Op == 2 {
				r.Reply(nil)
				return
			}
			asked = r.Context()
			r.OnEnd(func() {
				ended = time.Now()
				r.Reply([]byte("too late"))
			})
		}))
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		started := time.Now()
		_, err := c.Call(ctx, 1, 0, nil)
		var broken *Broken
		if !errors.As(err, &broken) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want Broken by the deadline", err)
		}
		synctest.Wait()
		if got := ended.Sub(started); got != time.Minute {
			t.Errorf("the handler learnt of it after %v, want 1m", got)
		}
		if asked.Err() == nil {
			t.Error("the request's context was not cancelled")
		}
		if _, err := c.Call(context.Background(), 2, 0, nil); err != nil {
			t.Errorf("the call after: %v", err)
		}
	})
}

// A context that has ended before the call sends nothing.
func TestCallOfAnEndedContext(t *testing.T) {
	c, _ := both(t, Config{}, echo)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := c.Call(ctx, 1, 0, nil)
	var notSent *NotSent
	if !errors.As(err, &notSent) || !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want NotSent by the cancellation", err)
	}
}

// A request that is withdrawn while it waits for the writer has surely not been
// sent, and the other end never acts on it, even though its bytes get there.
func TestWithdrawnBeforeItLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var served []byte
		c, near := both(t, Config{PingTimeout: time.Hour}, handlerFunc(func(r *Request) {
			served = append(served, r.Op)
			r.Reply(nil)
		}))
		near.Hold(true)
		filler := make(chan error)
		go func() { // fills the pipe, so that the writer is stuck
			_, err := c.Call(context.Background(), 1, 0, make([]byte, 1<<20))
			filler <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := c.Call(ctx, 2, 0, []byte("withdrawn"))
		var notSent *NotSent
		if !errors.As(err, &notSent) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want NotSent by the deadline", err)
		}
		near.Hold(false)
		if err := <-filler; err != nil {
			t.Errorf("the call before: %v", err)
		}
		if _, err := c.Call(context.Background(), 3, 0, nil); err != nil {
			t.Errorf("the call after: %v", err)
		}
		if !bytes.Equal(served, []byte{1, 3}) {
			t.Errorf("served %v, want 1 and 3", served)
		}
	})
}

// When a connection ends, a call whose request has left has an unknown outcome,
// and one that waited for the writer surely was not sent.
func TestOutcomesAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, near := both(t, Config{PingTimeout: time.Hour}, handlerFunc(func(*Request) {}))
		outcomes := make([]error, 3)
		var calls sync.WaitGroup
		call := func(i, size int) {
			calls.Go(func() { _, outcomes[i] = c.Call(context.Background(), 1, 0, make([]byte, size)) })
			synctest.Wait()
		}
		call(0, 10) // arrives
		near.Hold(true)
		call(1, 1<<20) // the writer is stuck in it
		call(2, 10)    // waits
		_ = c.Close()
		calls.Wait()
		var broken *Broken
		var notSent *NotSent
		if !errors.As(outcomes[0], &broken) || !errors.As(outcomes[1], &broken) {
			t.Errorf("sent: got %v and %v, want Broken", outcomes[0], outcomes[1])
		}
		if !errors.As(outcomes[2], &notSent) {
			t.Errorf("not sent: got %v, want NotSent", outcomes[2])
		}
		for _, err := range outcomes {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("got %v, want it to be ErrClosed", err)
			}
		}
		if _, err := c.Call(context.Background(), 1, 0, nil); !errors.As(err, &notSent) || !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: got %v", err)
		}
	})
}

// Both ends notice within the ping timeout that the other has vanished, and
// everything that waits ends.
func TestHalfOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := Config{PingInterval: time.Second, PingTimeout: 3 * time.Second}
		near, far := wiretest.Pipe()
		c := NewConn(near, config)
		defer c.Close()
		var ended time.Time
		served := make(chan error, 1)
		go func() {
			served <- Serve(context.Background(), far, config, handlerFunc(func(r *Request) {
				r.OnEnd(func() { ended = time.Now() })
			}))
		}()
		go func() {
			time.Sleep(time.Hour) // idle, but alive
			near.Hold(true)
		}()
		started := time.Now()
		_, err := c.Call(context.Background(), 1, 0, nil)
		failed := time.Since(started)
		if err := <-served; !errors.Is(err, ErrSilent) {
			t.Errorf("the serving end: got %v, want ErrSilent", err)
		}
		if !errors.Is(err, ErrSilent) {
			t.Errorf("the calling end: got %v, want ErrSilent", err)
		}
		for _, after := range []time.Duration{failed, ended.Sub(started)} {
			if after -= time.Hour; after < 3*time.Second || after > 5*time.Second {
				t.Errorf("noticed after %v, want 3s to 5s", after)
			}
		}
	})
}

// A handler's answers to callers that don't read them are bounded: the peer is
// cut off.
func TestPeerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := wiretest.Pipe()
		defer near.Close()
		served := make(chan error, 1)
		go func() {
			served <- Serve(context.Background(), far, Config{MaxQueued: 1 << 20}, handlerFunc(func(r *Request) {
				r.Reply(make([]byte, 100<<10))
			}))
		}()
		var err error
		for stream := uint64(1); err == nil && stream < 100; stream++ {
			_, err = near.Write(appendFrame(nil, frame{kind: kindRequest, stream: stream}))
			synctest.Wait()
		}
		if err := <-served; !errors.Is(err, ErrOverload) {
			t.Errorf("got %v, want ErrOverload", err)
		}
	})
}

// A peer that only pings, and reads no answers, is cut off as well.
func TestPingFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := wiretest.Pipe()
		defer near.Close()
		served := make(chan error, 1)
		go func() { served <- Serve(context.Background(), far, Config{MaxQueued: 100 << 10}, echo) }()
		pings := bytes.Repeat(appendFrame(nil, frame{kind: kindPing}), 1<<10)
		for range 1000 {
			if _, err := near.Write(pings); err != nil {
				break
			}
		}
		if err := <-served; !errors.Is(err, ErrOverload) {
			t.Errorf("got %v, want ErrOverload", err)
		}
	})
}

// Limits of what may be in flight: the caller keeps them without harm to the
// calls under way, and a caller that doesn't is cut off.
func TestInFlightLimits(t *testing.T) {
	for _, config := range []Config{{MaxInFlight: 3}, {MaxInFlightBytes: 30}} {
		synctest.Test(t, func(t *testing.T) {
			var open []*Request
			hold := handlerFunc(func(r *Request) { open = append(open, r) })
			c, _ := both(t, config, hold)
			var calls sync.WaitGroup
			for range 3 {
				calls.Go(func() {
					if _, err := c.Call(context.Background(), 1, 0, make([]byte, 10)); err != nil {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
			_, err := c.Call(context.Background(), 1, 0, make([]byte, 10))
			var notSent *NotSent
			if !errors.As(err, &notSent) || !errors.Is(err, ErrOverload) {
				t.Errorf("the calling end: got %v, want NotSent by overload", err)
			}
			for _, r := range open {
				r.Reply(nil)
			}
			calls.Wait()

			near, far := wiretest.Pipe()
			defer near.Close()
			served := make(chan error, 1)
			go func() { served <- Serve(context.Background(), far, config, hold) }()
			for stream := uint64(1); stream <= 4; stream++ {
				_, _ = near.Write(appendFrame(nil, frame{kind: kindRequest, stream: stream, payload: make([]byte, 10)}))
			}
			if err := <-served; !errors.Is(err, ErrOverload) {
				t.Errorf("the serving end: got %v, want ErrOverload", err)
			}
		})
	}
}

// Whatever breaks the protocol ends the connection with an error that says so,
// at both ends.
func TestProtocolViolations(t *testing.T) {
	long := binary.BigEndian.AppendUint32(nil, MaxAnswer+1000)
	twice := appendFrame(appendFrame(nil, frame{kind: kindRequest, stream: 1}), frame{kind: kindRequest, stream: 1})
	tests := []struct {
		name           string
		bytes          []byte
		calls, serving bool // at which end it is a violation
	}{
		{"unknown kind", []byte{0, 0, 0, 1, 99}, true, true},
		{"empty frame", []byte{0, 0, 0, 0}, true, true},
		{"too long", long, true, true},
		{"no stream", []byte{0, 0, 0, 1, byte(kindAnswer)}, true, true},
		{"no operation", []byte{0, 0, 0, 2, byte(kindRequest), 1}, true, true},
		{"ping with a payload", []byte{0, 0, 0, 2, byte(kindPing), 1}, true, true},
		{"cancel with a payload", []byte{0, 0, 0, 3, byte(kindCancel), 1, 1}, true, true},
		{"http", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), true, true},
		{"answer at the serving end", appendFrame(nil, frame{kind: kindAnswer, stream: 1}), false, true},
		{"request at the calling end", appendFrame(nil, frame{kind: kindRequest, stream: 1}), true, false},
		{"one stream twice", twice, true, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := wiretest.Pipe()
				defer near.Close()
				_, _ = near.Write(test.bytes)
				c := NewConn(far, Config{})
				synctest.Wait()
				if err := c.Err(); errors.Is(err, ErrProtocol) != test.calls {
					t.Errorf("the calling end: got %v", err)
				}
				_ = c.Close()

				near, far = wiretest.Pipe()
				_, _ = near.Write(test.bytes)
				synctest.Wait()
				_ = near.Close()
				err := Serve(context.Background(), far, Config{}, handlerFunc(func(*Request) {}))
				if errors.Is(err, ErrProtocol) != test.serving {
					t.Errorf("the serving end: got %v", err)
				}
			})
		})
	}
}

// When Serve's context ends, answers that were given before still arrive, what
// is open ends, and the caller sees the connection close.
func TestServeUntilItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := wiretest.Pipe()
		c := NewConn(near, Config{})
		defer c.Close()
		ctx, cancel := context.WithCancelCause(context.Background())
		ended := false
		served := make(chan error, 1)
		go func() {
			served <- Serve(ctx, far, Config{}, handlerFunc(func(r *Request) {
				if r.Op == 1 {
					r.OnEnd(func() { ended = true })
					return
				}
				r.Reply([]byte("in time"))
				cancel(errors.New("shutting down"))
			}))
		}()
		outcome := make(chan error, 1)
		go func() {
			_, err := c.Call(context.Background(), 1, 0, nil)
			outcome <- err
		}()
		synctest.Wait()
		if answer, err := c.Call(context.Background(), 2, 0, nil); string(answer) != "in time" || err != nil {
			t.Errorf("answered: got %q, %v", answer, err)
		}
		if err := <-served; !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), "shutting down") {
			t.Errorf("Serve: got %v", err)
		}
		var broken *Broken
		if err := <-outcome; !errors.As(err, &broken) {
			t.Errorf("open: got %v, want Broken", err)
		}
		if !ended {
			t.Error("the open request did not end")
		}
	})
}

// Serve ends half a second after its context although the peer reads nothing.
func TestServeEndsWhenNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := wiretest.Pipe()
		defer near.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _ = near.Write(appendFrame(nil, frame{kind: kindRequest, stream: 1}))
		started := time.Now()
		_ = Serve(ctx, far, Config{}, handlerFunc(func(r *Request) { r.Reply(make([]byte, 1<<20)) }))
		if got := time.Since(started); got != time.Second+flushTime {
			t.Errorf("ended after %v", got)
		}
	})
}

// A request is answered once; what comes after is ignored, and so is OnEnd of
// an answered request.
func TestReplyOnce(t *testing.T) {
	c, _ := both(t, Config{}, handlerFunc(func(r *Request) {
		r.OnEnd(func() { t.Error("OnEnd of an answered request") })
		r.Reply([]byte("first"))
		r.Reply([]byte("second"))
		if r.Context().Err() == nil {
			t.Error("the context of an answered request is not cancelled")
		}
	}))
	for range 3 {
		if answer, err := c.Call(context.Background(), 1, 0, nil); string(answer) != "first" || err != nil {
			t.Fatalf("got %q, %v", answer, err)
		}
	}
}

// It works over TCP, with many callers at once.
func TestOverTCP(t *testing.T) {
	c := overTCP(t, echo)
	var calls sync.WaitGroup
	for i := range 64 {
		calls.Go(func() {
			for j := range 50 {
				sent := fmt.Appendf(nil, "%d/%d", i, j)
				got, err := c.Call(context.Background(), 1, 0, sent)
				if err != nil || !bytes.Equal(got, sent) {
					t.Errorf("sent %s, got %s, %v", sent, got, err)
					return
				}
			}
		})
	}
	calls.Wait()
}

func overTCP(t testing.TB, handler Handler) *Conn {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	near, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := NewConn(near, Config{})
	served := make(chan error, 1)
	go func() { served <- Serve(context.Background(), far, Config{}, handler) }()
	t.Cleanup(func() {
		_ = c.Close()
		<-served
	})
	return c
}

// BenchmarkCall is a call over loopback TCP with so many concurrent callers.
func BenchmarkCall(b *testing.B) {
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			c := overTCP(b, echo)
			payload := make([]byte, 100)
			b.ReportAllocs()
			var running sync.WaitGroup
			for i := range callers {
				share := b.N / callers
				if i < b.N%callers {
					share++
				}
				running.Go(func() {
					for range share {
						if _, err := c.Call(context.Background(), 1, 0, payload); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			running.Wait()
		})
	}
}
