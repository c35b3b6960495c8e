package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure"
)

func (f *fake) inLine() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting
}

// An acquire waits in line and is answered when the key is free; a client that
// goes away leaves the line at once.
func TestAcquireWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, n := newFake(), &network{}
		n.serve(t, "n1:1", NewHandler(Config{Backend: f}))
		c := n.client(t, "n1:1")
		first, err := c.Acquire(t.Context(), AcquireRequest{Key: "k", Owner: "r1", RequestID: "a", TTLMillis: 1000})
		if err != nil {
			t.Fatal(err)
		}
		wait := AcquireRequest{Key: "k", Owner: "r2", RequestID: "b", TTLMillis: 1000, WaitMillis: time.Hour.Milliseconds()}

		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := c.Acquire(ctx, wait)
			left <- err
		}()
		synctest.Wait()
		if got := f.inLine(); got != 1 {
			t.Fatalf("%d in line", got)
		}
		cancel()
		err = <-left
		var u *tenure.UnavailableError
		if !errors.As(err, &u) || !u.MaybeApplied || !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelled acquire got %v", err)
		}
		synctest.Wait()
		if got := f.inLine(); got != 0 {
			t.Errorf("%d in line after the client went away", got)
		}

		time.AfterFunc(30*time.Minute, func() {
			_, err := c.Release(t.Context(), ReleaseRequest{Owner: "r1", Tenures: []Ending{{Key: "k", Epoch: first.Record.Epoch}}})
			if err != nil {
				t.Error(err)
			}
		})
		start := time.Now()
		second, err := c.Acquire(t.Context(), wait)
		if err != nil || second.Record.Owner != "r2" || second.Record.Epoch != 2 || time.Since(start) != 30*time.Minute {
			t.Errorf("%+v, %v after %v", second, err, time.Since(start))
		}
		start = time.Now()
		wait.Owner = "r3"
		if _, err := c.Acquire(t.Context(), wait); !errors.Is(err, tenure.ErrHeld) || time.Since(start) != time.Hour {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// hung is a backend that answers only when it is given up.
type hung struct{ *fake }

func (h hung) results(ctx context.Context) []tenure.Result {
	<-ctx.Done()
	return []tenure.Result{{Err: &tenure.UnavailableError{MaybeApplied: true, Reason: "no answer", Err: ctx.Err()}}}
}

func (h hung) Acquire(ctx context.Context, _ tenure.AcquireRequest) []tenure.Result {
	return h.results(ctx)
}
func (h hung) Renew(ctx context.Context, _ tenure.RenewRequest) []tenure.Result {
	return h.results(ctx)
}
func (h hung) Release(ctx context.Context, _ tenure.ReleaseRequest) []tenure.Result {
	return h.results(ctx)
}
func (h hung) Forget(ctx context.Context, _ tenure.ForgetRequest) []tenure.Result {
	return h.results(ctx)
}
func (h hung) Get(ctx context.Context, _ string) (tenure.View, error) {
	return tenure.View{}, h.results(ctx)[0].Err
}
func (h hung) List(ctx context.Context, _ tenure.Listing) (tenure.Page, error) {
	return tenure.Page{}, h.results(ctx)[0].Err
}
func (h hung) Members(ctx context.Context) ([]tenure.Member, error) {
	return nil, h.results(ctx)[0].Err
}
func (h hung) Join(ctx context.Context, _, _ string, _ bool) error { return h.results(ctx)[0].Err }
func (h hung) Remove(ctx context.Context, _ string) error          { return h.results(ctx)[0].Err }
func (h hung) Transfer(ctx context.Context, _ string) error        { return h.results(ctx)[0].Err }

// No request is worked on for ever.
func TestAllowance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHandler(Config{Backend: hung{newFake()}})
		for _, c := range []struct {
			method, target, body string
			after                time.Duration
			status               int
		}{
			{"POST", "/v1/acquire", `{"key":"k","owner":"r","request_id":"a","ttl_ms":1000}`, Allowance, 503},
			{"POST", "/v1/acquire", `{"key":"k","owner":"r","request_id":"a","ttl_ms":1000,"wait_ms":60000}`, Allowance + time.Minute, 503},
			{"POST", "/v1/renew", `{"owner":"r","ttl_ms":1000,"tenures":[{"key":"k","epoch":1}]}`, Allowance, 200},
			{"POST", "/v1/release", `{"owner":"r","tenures":[{"key":"k","epoch":1}]}`, Allowance, 200},
			{"POST", "/v1/forget", `{"owner":"r","key":"k","epoch":1}`, Allowance, 503},
			{"GET", "/v1/leases/k", "", Allowance, 503},
			{"GET", "/v1/leases", "", Allowance, 503},
			{"GET", "/v1/members", "", Allowance, 503},
			{"POST", "/v1/members", `{"id":"n3","addr":"h:1"}`, Allowance, 503},
			{"DELETE", "/v1/members/n3", "", Allowance, 503},
			{"POST", "/v1/transfer", `{}`, Allowance, 503},
		} {
			start := time.Now()
			w := ask(h, c.method, c.target, c.body)
			if took := time.Since(start); took != c.after || w.Code != c.status {
				t.Errorf("%s %s is %d %s after %v, not %d after %v", c.method, c.target, w.Code, w.Body, took, c.status, c.after)
			}
		}
	})
}

// A caller that says how long it waits has its answer within that time.
func TestTimeoutHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHandler(Config{Backend: hung{newFake()}})
		const body = `{"key":"k","owner":"r","request_id":"a","ttl_ms":1000,"wait_ms":60000}`
		for _, c := range []struct {
			timeouts []string
			after    time.Duration
			status   int
		}{
			{[]string{"4750"}, 4750 * time.Millisecond, 503},
			{[]string{"1"}, time.Millisecond, 503},
			{[]string{"86430000"}, Allowance + time.Minute, 503},
			{[]string{"86430001"}, 0, 400},
			{[]string{"0"}, 0, 400},
			{[]string{"-5"}, 0, 400},
			{[]string{"5s"}, 0, 400},
			{[]string{""}, 0, 400},
			{[]string{"5", "5"}, 0, 400},
		} {
			start, w := time.Now(), httptest.NewRecorder()
			r := httptest.NewRequest("POST", "/v1/acquire", strings.NewReader(body))
			r.Header[TimeoutHeader] = c.timeouts
			h.ServeHTTP(w, r)
			if took := time.Since(start); took != c.after || w.Code != c.status {
				t.Errorf("with %q it is %d %s after %v, not %d after %v", c.timeouts, w.Code, w.Body, took, c.status, c.after)
			}
			if c.status == 400 && !strings.Contains(w.Body.String(), TimeoutHeader) {
				t.Errorf("with %q the refusal is %s", c.timeouts, w.Body)
			}
		}
	})
}

// leaderless is a backend that says at the end that nothing was applied.
type leaderless struct{ *fake }

func (l leaderless) Acquire(ctx context.Context, _ tenure.AcquireRequest) []tenure.Result {
	<-ctx.Done()
	return []tenure.Result{{Err: &tenure.UnavailableError{Key: "k", Reason: "no leader is known", Err: ctx.Err()}}}
}

// The client asks for an answer before its own context ends, so that it hears
// what is definite.
func TestClientHearsBeforeItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		n.serve(t, "n1:1", NewHandler(Config{Backend: leaderless{newFake()}}))
		c := n.client(t, "n1:1")
		for _, timeout := range []time.Duration{100 * time.Millisecond, 5 * time.Second, time.Minute} {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			_, err := c.Acquire(ctx, AcquireRequest{Key: "k", Owner: "r", RequestID: "a", TTLMillis: 1000})
			var u *tenure.UnavailableError
			if !errors.As(err, &u) || u.MaybeApplied || ctx.Err() != nil {
				t.Errorf("within %v: %v (%v), want that it was not applied", timeout, err, ctx.Err())
			}
			cancel()
		}
	})
}

// miscounting is a backend that breaks its promise of a result for each item.
type miscounting struct{ *fake }

func (m miscounting) Forget(context.Context, tenure.ForgetRequest) []tenure.Result { return nil }
func (m miscounting) Renew(context.Context, tenure.RenewRequest) []tenure.Result {
	return make([]tenure.Result, 2)
}

func TestMiscountingBackend(t *testing.T) {
	h := NewHandler(Config{Backend: miscounting{newFake()}})
	for target, body := range map[string]string{
		"/v1/forget": `{"owner":"r","key":"k","epoch":1}`,
		"/v1/renew":  `{"owner":"r","ttl_ms":1000,"tenures":[{"key":"k","epoch":1}]}`,
	} {
		if w := ask(h, http.MethodPost, target, body); w.Code != http.StatusServiceUnavailable {
			t.Errorf("%s is %d %s", target, w.Code, w.Body)
		}
	}
}
