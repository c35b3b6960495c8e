package holder_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/tenure"
	"example.com/tenure/holder"
	"example.com/tenure/holder/holdertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What a request asks for.
const (
	acquire = "acquire"
	renew   = "renew"
	release = "release"
	forget  = "forget"
)

// A request is one call as the store saw it begin.
type request struct {
	op     string
	at     time.Time
	keys   []string
	epochs []uint64 // 0 for an acquire or a request id
	ids    []string // of an acquire
}

// A proxy is a store between a holder and the store in memory: it records
// every request, and a test can put anything between a request and its answer.
type proxy struct {
	*holdertest.Store

	mu       sync.Mutex
	between  func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result
	requests []request
	sending  map[tenureID]int  // renewals on their way
	released map[tenureID]bool // tenures whose release was sent
	calls    int               // renewals on their way, in batches
	most     int               // the most of them at once
	disorder []string          // requests that broke the order of renewals and release
}

type tenureID struct {
	key   string
	epoch uint64
}

func newProxy(clock tenure.Clock) *proxy {
	return &proxy{
		Store:    holdertest.NewStore(clock),
		sending:  make(map[tenureID]int),
		released: make(map[tenureID]bool),
	}
}

// put sets what happens between a request and its answer; nil is nothing.
func (p *proxy) put(between func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.between = between
}

// sent returns the requests of one kind.
func (p *proxy) sent(op string) []request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var sent []request
	for _, r := range p.requests {
		if r.op == op {
			sent = append(sent, r)
		}
	}
	return sent
}

// sentFor returns the requests of one kind about a tenure.
func (p *proxy) sentFor(op, key string, epoch uint64) []request {
	var sent []request
	for _, r := range p.sent(op) {
		for i := range r.keys {
			if r.keys[i] == key && r.epochs[i] == epoch {
				sent = append(sent, r)
			}
		}
	}
	return sent
}

func (p *proxy) pass(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result {
	r.at = time.Now()
	p.mu.Lock()
	p.requests = append(p.requests, r)
	p.checkOrder(r)
	p.count(r, 1)
	between := p.between
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.count(r, -1)
	}()
	if between == nil {
		return send()
	}
	return between(ctx, r, send)
}

// checkOrder looks for renewals and releases of one tenure that are on their
// way together or in the wrong order.
func (p *proxy) checkOrder(r request) {
	for i, k := range r.keys {
		id := tenureID{k, r.epochs[i]}
		switch {
		case r.op == release && p.sending[id] > 0:
			p.disorder = append(p.disorder, fmt.Sprintf("%s: epoch %d is released while it is renewed", k, id.epoch))
		case r.op == renew && p.released[id]:
			p.disorder = append(p.disorder, fmt.Sprintf("%s: epoch %d is renewed after its release", k, id.epoch))
		case r.op == renew && p.sending[id] > 0:
			p.disorder = append(p.disorder, fmt.Sprintf("%s: epoch %d is renewed twice at once", k, id.epoch))
		case r.op == release && id.epoch != 0:
			p.released[id] = true
		}
	}
}

// count counts a renewal that begins, or one that ends.
func (p *proxy) count(r request, n int) {
	if r.op != renew {
		return
	}
	p.calls += n
	p.most = max(p.most, p.calls)
	for i, k := range r.keys {
		id := tenureID{k, r.epochs[i]}
		if p.sending[id] += n; p.sending[id] == 0 {
			delete(p.sending, id)
		}
	}
}

// mostCalls returns how many renewals were on their way at most, in batches.
func (p *proxy) mostCalls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most
}

// ordered reports as an error what was out of order in the whole run.
func (p *proxy) ordered(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.disorder {
		t.Error(d)
	}
}

func (p *proxy) Acquire(ctx context.Context, req tenure.AcquireRequest) []tenure.Result {
	r := request{op: acquire}
	for _, a := range req.Asks {
		r.keys, r.epochs = append(r.keys, a.Key), append(r.epochs, 0)
		r.ids = append(r.ids, a.RequestID)
	}
	return p.pass(ctx, r, func() []tenure.Result { return p.Store.Acquire(ctx, req) })
}

func (p *proxy) Renew(ctx context.Context, req tenure.RenewRequest) []tenure.Result {
	r := request{op: renew}
	for _, n := range req.Renewals {
		r.keys, r.epochs = append(r.keys, n.Key), append(r.epochs, n.Epoch)
	}
	return p.pass(ctx, r, func() []tenure.Result { return p.Store.Renew(ctx, req) })
}

func (p *proxy) Release(ctx context.Context, req tenure.ReleaseRequest) []tenure.Result {
	r := request{op: release}
	for _, e := range req.Endings {
		r.keys, r.epochs = append(r.keys, e.Key), append(r.epochs, e.Epoch)
	}
	return p.pass(ctx, r, func() []tenure.Result { return p.Store.Release(ctx, req) })
}

func (p *proxy) Forget(ctx context.Context, req tenure.ForgetRequest) []tenure.Result {
	r := request{op: forget}
	for _, t := range req.Tenures {
		r.keys, r.epochs = append(r.keys, t.Key), append(r.epochs, t.Epoch)
	}
	return p.pass(ctx, r, func() []tenure.Result { return p.Store.Forget(ctx, req) })
}

// silence answers a request as a store that is cut off does: not at all, until
// the caller gives up.
func silence(ctx context.Context, r request, _ func() []tenure.Result) []tenure.Result {
	<-ctx.Done()
	return unanswered(len(r.keys), &tenure.UnavailableError{MaybeApplied: true, Reason: "no answer", Err: ctx.Err()})
}

// unanswered returns n results with one error.
func unanswered(n int, err error) []tenure.Result {
	results := make([]tenure.Result, n)
	for i := range results {
		results[i].Err = err
	}
	return results
}

const (
	ttl    = 10 * time.Second
	margin = time.Second
	key    = "tenant-42"
)

// A bubble is a store and a holder of it, in virtual time.
type bubble struct {
	*testing.T
	clock *skewedClock
	store *proxy
	*holder.Holder
	holders []*holder.Holder // to be closed at the end
}

// inBubble runs a test in virtual time and closes all holders at the end.
func inBubble(t *testing.T, test func(t *testing.T, b *bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{T: t, clock: newSkewedClock(1), store: newProxy(tenure.MonotonicClock())}
		b.Holder = b.another("replica-1")
		test(t, b)
		b.store.put(nil)
		b.store.SetReachable(true)
		for _, h := range b.holders {
			if err := h.Close(t.Context()); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		b.store.ordered(t)
	})
}

// another makes a holder that shares the store and the clock.
func (b *bubble) another(replica string) *holder.Holder {
	b.Helper()
	return b.make(holder.Config{Replica: replica, TTL: ttl, Margin: margin})
}

func (b *bubble) make(cfg holder.Config) *holder.Holder {
	b.Helper()
	cfg.Store = b.store
	if cfg.Clock == nil {
		cfg.Clock = b.clock
	}
	h, err := holder.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.holders = append(b.holders, h)
	return h
}

// acquire acquires a key that must be free.
func (b *bubble) acquire(key string) *holder.Lease {
	b.Helper()
	lease, err := b.Acquire(b.Context(), key)
	if err != nil {
		b.Fatal(err)
	}
	return lease
}

// within returns a context that ends after d.
func (b *bubble) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	b.Cleanup(cancel)
	return ctx
}

// A skewedClock runs at its own rate and can jump, as CLOCK_BOOTTIME does when
// a suspended host wakes up: its timers don't see the jump.
type skewedClock struct {
	rate  float64
	start time.Time

	mu   sync.Mutex
	jump time.Duration
}

func newSkewedClock(rate float64) *skewedClock { return &skewedClock{rate: rate, start: time.Now()} }

func (c *skewedClock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(float64(time.Since(c.start))*c.rate) + c.jump
}

func (c *skewedClock) AfterFunc(d time.Duration, f func()) tenure.Timer {
	return time.AfterFunc(time.Duration(math.Ceil(float64(d)/c.rate)), f)
}

func (c *skewedClock) suspend(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jump += d
}
