package holder_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"example.com/tenure"
	"example.com/tenure/holder"
)

// A step is one thing that happens to a lease.
type step struct {
	what  string
	sleep time.Duration // after it
}

func drawSteps(t *rapid.T) []step {
	whats := []string{"nothing", "nothing", "cut", "cut", "mend", "mend", "steal", "forget", "release", "context"}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			what:  rapid.SampledFrom(whats).Draw(t, "what"),
			sleep: time.Duration(rapid.IntRange(0, int(ttl)-1).Draw(t, "sleep")),
		}
	}), 1, 30).Draw(t, "steps")
}

// A model is what a lease must look like. It knows of the requests only when
// those that were answered were sent.
type model struct {
	mu      sync.Mutex
	fence   time.Time
	reason  tenure.FenceReason // why the gate is shut for good, "" if it is not
	over    bool
	letGoAt time.Time // if it is to be forgotten, or zero

	lease *holder.Lease
	bound context.Context // the newest context that was taken from an open gate
}

// watch keeps the model up to date with the answers.
func (m *model) watch(_ context.Context, r request, send func() []tenure.Result) []tenure.Result {
	sentAt := time.Now()
	results := send()
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.keys[0] != key || m.over {
		return results
	}
	switch err := results[0].Err; {
	case (r.op == acquire || r.op == renew) && err == nil:
		m.fence = sentAt.Add(ttl - margin)
	case (r.op == renew || r.op == forget) && errors.Is(err, tenure.ErrLost):
		m.reason, m.over = tenure.LeaseLost, true
	}
	return results
}

// do makes one step in the world and in the model.
func (m *model) do(b *bubble, s step) {
	switch s.what {
	case "cut":
		b.store.SetReachable(false)
	case "mend":
		b.store.SetReachable(true)
	case "steal":
		b.store.Store.Acquire(b.Context(), tenure.AcquireRequest{
			Owner: "thief", Asks: []tenure.Ask{{Key: key, RequestID: "1", TTL: ttl}},
		})
	case "context":
		if ctx := m.lease.Context(); ctx.Err() == nil {
			m.bound = ctx
		}
	case "forget":
		_, err := m.lease.Forget(b.within(time.Millisecond))
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.over {
			m.reason, m.letGoAt = tenure.LeaseReleased, time.Now().Add(ttl)
		}
		if err == nil && b.store.Get(key).Record.ForgottenAtEpoch != m.lease.Epoch() {
			b.Error("forget said it was done and it was not")
		}
	case "release":
		_ = m.lease.Release(b.within(time.Millisecond))
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.over {
			m.reason, m.over = tenure.LeaseReleased, true
		}
	}
}

// check compares the lease with the model.
func (m *model) check() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if !m.over && !m.letGoAt.IsZero() && !now.Before(m.letGoAt) {
		m.over = true // let go
	}
	want := m.reason
	if want == "" && !now.Before(m.fence) {
		want = tenure.LeaseExpiredLocally
	}
	if got := reasonOf(m.lease.AssertHeld()); got != want {
		return fmt.Errorf("the gate says %q, want %q, %v before the fence", got, want, m.fence.Sub(now))
	}
	if got := m.lease.Err() != nil; got != m.over {
		return fmt.Errorf("over is %t, want %t", got, m.over)
	}
	if want != "" && m.bound != nil && m.bound.Err() == nil {
		return fmt.Errorf("the gate is closed (%s), and its context lives", want)
	}
	left := max(m.fence.Sub(now), 0)
	if m.reason != "" {
		left = 0
	}
	if got := m.lease.Remaining(); got != left {
		return fmt.Errorf("%v remain, want %v", got, left)
	}
	return nil
}

// Goal: whatever happens to a lease, in whatever order, its gate, its context
// and its end are those of a model that fits on a page.
func TestLeaseAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := drawSteps(rt)
		var failure error
		inBubble(t, func(t *testing.T, b *bubble) {
			m := &model{}
			b.store.put(m.watch)
			m.lease = b.acquire(key)
			for n, s := range steps {
				m.do(b, s)
				time.Sleep(s.sleep)
				synctest.Wait()
				if err := m.check(); err != nil && failure == nil {
					failure = fmt.Errorf("after step %d (%s, %v): %w", n, s.what, s.sleep, err)
				}
			}
		})
		if failure != nil {
			rt.Fatal(failure)
		}
	})
}
