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

// A drift is what one run of the overlap test draws: clocks whose rates differ
// by no more than the margin allows, and what happens to the requests.
type drift struct {
	margin time.Duration
	store  float64   // rate of the store's clock
	rates  []float64 // of the holders' clocks
	delays []time.Duration
	lose   []int // answers that are lost, by the count of requests
	pauses []time.Duration
}

const driftTTL = 400 * time.Millisecond

func drawDrift(t *rapid.T) drift {
	d := drift{margin: time.Duration(rapid.IntRange(0, 200).Draw(t, "margin")) * time.Millisecond}
	d.store = rapid.Float64Range(0.5, 2).Draw(t, "store rate")
	// The assumption: (ttl - margin) * rate_store <= ttl * rate_holder.
	slowest := d.store * float64(driftTTL-d.margin) / float64(driftTTL)
	for range 3 {
		// A hair above the slowest: a clock reads whole nanoseconds.
		d.rates = append(d.rates, rapid.Float64Range(slowest*1.000001, slowest*1.5).Draw(t, "rate"))
	}
	ms := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(0, 300).Draw(t, "ms")) * time.Millisecond
	})
	d.delays = rapid.SliceOfN(ms, 1, 20).Draw(t, "delays")
	d.pauses = rapid.SliceOfN(ms, 1, 20).Draw(t, "pauses")
	d.lose = rapid.SliceOfN(rapid.IntRange(0, 3), 1, 20).Draw(t, "lose")
	return d
}

// between delays requests and answers, and loses some of either.
func (d drift) between() func(context.Context, request, func() []tenure.Result) []tenure.Result {
	var mu sync.Mutex
	n := 0
	return func(ctx context.Context, r request, send func() []tenure.Result) []tenure.Result {
		mu.Lock()
		n++
		there, back, lose := d.delays[n%len(d.delays)], d.delays[(n*7)%len(d.delays)], d.lose[n%len(d.lose)]
		mu.Unlock()
		time.Sleep(there)
		if lose == 1 {
			return unanswered(len(r.keys), &tenure.UnavailableError{Reason: "the request was lost", MaybeApplied: true})
		}
		results := send()
		time.Sleep(back)
		if lose == 2 {
			return unanswered(len(r.keys), &tenure.UnavailableError{Reason: "the answer was lost", MaybeApplied: true})
		}
		return results
	}
}

var errOverlap = errors.New("two gates are open at once")

// An observer sees all gates at the same true instants.
type observer struct {
	leases [3]*holder.Lease
	mu     sync.Mutex
	passes int
	err    error
}

func (o *observer) set(i int, l *holder.Lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.leases[i] = l
}

// look checks that at most one gate is open, and that nobody below the newest
// epoch is.
func (o *observer) look() {
	o.mu.Lock()
	defer o.mu.Unlock()
	var open []string
	for i, l := range o.leases {
		if l != nil && l.AssertHeld() == nil {
			open = append(open, fmt.Sprintf("holder %d at epoch %d", i, l.Epoch()))
			o.passes++
		}
	}
	if len(open) > 1 {
		o.err = fmt.Errorf("%w: %v", errOverlap, open)
	}
}

// run has three holders fight for one key, and watches.
func (d drift) run() (passes int, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	store := newProxy(newSkewedClock(d.store))
	store.put(d.between())
	o := &observer{}
	margin := d.margin
	if margin == 0 {
		margin = holder.NoMargin
	}
	var fleet sync.WaitGroup
	for i, rate := range d.rates {
		h, err := holder.New(holder.Config{Store: store, Replica: "r", TTL: driftTTL, Margin: margin, Clock: newSkewedClock(rate)})
		if err != nil {
			cancel()
			return 0, err
		}
		fleet.Go(func() {
			defer h.Close(context.Background())
			for n := i; ctx.Err() == nil; n++ {
				d.serve(ctx, h, func(l *holder.Lease) { o.set(i, l) }, n)
			}
		})
	}
	for range 5000 {
		time.Sleep(2 * time.Millisecond)
		o.look()
	}
	cancel()
	fleet.Wait()
	if len(store.disorder) > 0 && o.err == nil {
		o.err = errors.New(store.disorder[0])
	}
	return o.passes, o.err
}

// serve holds the key for a while, and then releases it or forgets about it:
// its holder goes on and the next one has to wait for an outage, or for the
// release.
func (d drift) serve(ctx context.Context, h *holder.Holder, show func(*holder.Lease), n int) {
	lease, err := h.AcquireWait(ctx, key)
	if err != nil {
		return
	}
	show(lease)
	time.Sleep(d.pauses[n%len(d.pauses)])
	if n%2 == 0 {
		<-mergeDone(ctx, lease.Context())
	}
	_ = lease.Release(ctx)
	show(nil)
}

// Goal (claim A): while every clock keeps its rate within the margin, at no
// instant of true time are two gates of one key open, whatever becomes of the
// requests.
func TestHeldIntervalsNeverOverlap(t *testing.T) {
	total := 0
	rapid.Check(t, func(rt *rapid.T) {
		d := drawDrift(rt)
		var err error
		synctest.Test(t, func(*testing.T) {
			var passes int
			passes, err = d.run()
			total += passes
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
	if total == 0 {
		t.Error("no gate was ever open: nothing was tested")
	}
}

// Goal: the test above can fail. A holder whose clock is slower than the
// margin allows is caught.
func TestOverlapIsCaught(t *testing.T) {
	d := drift{
		margin: 40 * time.Millisecond,
		store:  1,
		rates:  []float64{0.4, 0.4, 0.4},
		delays: []time.Duration{0},
		pauses: []time.Duration{time.Second},
		lose:   []int{0, 0, 0, 1, 1, 1, 1, 1, 1},
	}
	synctest.Test(t, func(*testing.T) {
		if _, err := d.run(); !errors.Is(err, errOverlap) {
			t.Errorf("two gates must have been open at once, got %v", err)
		}
	})
}
