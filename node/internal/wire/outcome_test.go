package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"example.com/tenure/node/internal/wire/wiretest"
)

// Whatever happens to a connection, the outcomes are true: what was answered
// was served, what is NotSent never was and never will be, and every call has
// an outcome.
func TestOutcomesAreTrue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Int64().Draw(rt, "seed")
		synctest.Test(t, func(t *testing.T) { checkOutcomes(t, seed) })
	})
}

func checkOutcomes(t *testing.T, seed int64) {
	random := rand.New(rand.NewSource(seed))
	near, far := wiretest.Pipe()
	config := Config{PingInterval: time.Second, PingTimeout: 2 * time.Second, MaxInFlight: 20}
	c := NewConn(near, config)
	served, answered, notSent := newSet(), newSet(), newSet()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(context.Background(), far, config, handlerFunc(func(r *Request) {
			served.add(binary.BigEndian.Uint64(r.Payload))
			if r.Op == 1 {
				r.Reply(nil)
			}
		}))
	}()
	var calls sync.WaitGroup
	for id := range uint64(60) {
		op, size := byte(random.Intn(2)), 8+random.Intn(2)*random.Intn(100<<10)
		patience := time.Duration(random.Intn(3000)) * time.Millisecond
		calls.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			payload := binary.BigEndian.AppendUint64(make([]byte, 0, size), id)[:size]
			_, err := c.Call(ctx, op, 0, payload)
			var definite *NotSent
			var unknown *Broken
			switch {
			case err == nil:
				answered.add(id)
			case errors.As(err, &definite):
				notSent.add(id)
			case !errors.As(err, &unknown):
				t.Errorf("seed %d: call %d: %v", seed, id, err)
			}
		})
		disturb(random, c, near)
	}
	calls.Wait()
	near.Hold(false)
	time.Sleep(time.Second) // what is still under way arrives
	_ = c.Close()
	<-ended
	for id := range answered.all {
		if !served.all[id] {
			t.Errorf("seed %d: call %d was answered but not served", seed, id)
		}
	}
	for id := range notSent.all {
		if served.all[id] {
			t.Errorf("seed %d: call %d is NotSent, but was served", seed, id)
		}
	}
}

// disturb does something to a connection, most often nothing.
func disturb(random *rand.Rand, c *Conn, near *wiretest.Conn) {
	switch random.Intn(80) / 10 {
	case 0:
		near.Hold(true)
	case 1, 2:
		near.Hold(false)
	case 3:
		time.Sleep(time.Duration(random.Intn(1000)) * time.Millisecond)
	case 4:
		if random.Intn(20) == 0 {
			_ = c.Close()
		}
	}
}

// A set of calls. It can be added to concurrently.
type set struct {
	mu  sync.Mutex
	all map[uint64]bool
}

func newSet() *set { return &set{all: make(map[uint64]bool)} }

func (s *set) add(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[id] = true
}
