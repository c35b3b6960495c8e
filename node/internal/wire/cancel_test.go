package wire

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

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
