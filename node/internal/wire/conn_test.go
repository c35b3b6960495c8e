package wire

import (
	"bytes"
	"context"
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
