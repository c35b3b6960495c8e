package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure/node/internal/wire/wiretest"
)

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

// Silence that is shorter than the timeout breaks nothing, however often.
func TestShortSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, near := both(t, Config{PingInterval: time.Second, PingTimeout: 3 * time.Second}, echo)
		for range 20 {
			near.Hold(true)
			time.Sleep(2900 * time.Millisecond)
			near.Hold(false)
			if _, err := c.Call(context.Background(), 1, 0, nil); err != nil {
				t.Fatal(err)
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
