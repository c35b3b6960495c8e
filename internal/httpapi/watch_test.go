package httpapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure"
)

// A page is a ResponseWriter whose client reads, or does not.
type page struct {
	mu       sync.Mutex
	header   http.Header
	written  bytes.Buffer
	flushed  int // bytes
	largest  int // bytes of one write
	deadline time.Time
	gone     bool // writes fail
}

func (p *page) Header() http.Header { return p.header }
func (p *page) WriteHeader(int)     {}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return 0, errors.New("broken pipe")
	}
	p.largest = max(p.largest, len(b))
	return p.written.Write(b)
}

func (p *page) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushed = p.written.Len()
}

func (p *page) SetWriteDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = t
	return nil
}

// take returns what was flushed since the last call.
func (p *page) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	got := string(p.written.Next(p.flushed))
	p.flushed = 0
	return got
}

// watchPage begins a watch in a bubble. Its end is told on the channel.
func watchPage(ctx context.Context, f *fake, target, lastID string) (*page, <-chan struct{}) {
	p := &page{header: http.Header{}}
	r := httptest.NewRequest("GET", target, nil).WithContext(ctx)
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		NewHandler(Config{Backend: f}).ServeHTTP(p, r)
	}()
	synctest.Wait()
	return p, ended
}

func (p *page) want(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	if got := p.take(); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

func grantOf(f *fake, key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.record(key)
	r.Held = false
	_ = f.acquire(context.Background(), "r1", tenure.Ask{Key: key, RequestID: "x"})
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		grantOf(f, "old")
		ctx, cancel := context.WithCancel(t.Context())
		all, ended := watchPage(ctx, f, "/v1/watch", "")
		prefix, prefixEnded := watchPage(ctx, f, "/v1/watch?prefix=a%2F", "")
		key, keyEnded := watchPage(ctx, f, "/v1/watch?key=a/1", "")
		for _, p := range []*page{all, prefix, key} {
			p.want(t, "id: 1\n\n")
		}
		if got := all.header.Get("Content-Type"); got != "text/event-stream" {
			t.Errorf("Content-Type %q", got)
		}
		grantOf(f, "a/1")
		const granted = "event: granted\nid: 2\n" + `data: {"event":"granted","index":2,"record":{"key":"a/1","owner":"r1","epoch":1,"forgotten_at_epoch":0,"held":true}}` + "\n\n"
		for _, p := range []*page{all, prefix, key} {
			p.want(t, granted)
		}
		// The events of one entry: only the last one that the watch sees has
		// the id.
		f.mu.Lock()
		r := tenure.Record{Key: "a/1", Owner: "r<1>", Epoch: 1, ForgottenAtEpoch: 1, Held: true}
		after := r
		after.Held = false
		f.emit(tenure.Event{Kind: tenure.EventForgotten, Index: 9, Record: r}, tenure.Event{Kind: tenure.EventReleased, Index: 9, Record: after},
			tenure.Event{Kind: tenure.EventReleased, Index: 9, Record: tenure.Record{Key: "b", Owner: "r2", Epoch: 3}})
		f.mu.Unlock()
		const forgotten = "event: forgotten\n" + `data: {"event":"forgotten","index":9,"record":{"key":"a/1","owner":"r<1>","epoch":1,"forgotten_at_epoch":1,"held":true}}` + "\n\n"
		const released = `data: {"event":"released","index":9,"record":{"key":"a/1","owner":"r<1>","epoch":1,"forgotten_at_epoch":1,"held":false}}` + "\n\n"
		const other = `data: {"event":"released","index":9,"record":{"key":"b","owner":"r2","epoch":3,"forgotten_at_epoch":0,"held":false}}` + "\n\n"
		all.want(t, forgotten+"event: released\n"+released+"event: released\nid: 9\n"+other)
		key.want(t, forgotten+"event: released\nid: 9\n"+released)
		prefix.want(t, forgotten+"event: released\nid: 9\n"+released)
		cancel()
		<-ended
		<-prefixEnded
		<-keyEnded
		if len(f.watchers) != 0 {
			t.Errorf("%d watchers are left", len(f.watchers))
		}
	})
}

func TestWatchResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		grantOf(f, "a")
		grantOf(f, "b")
		ctx, cancel := context.WithCancel(t.Context())
		exact, exactEnded := watchPage(ctx, f, "/v1/watch", "2")
		late, lateEnded := watchPage(ctx, f, "/v1/watch", "1")
		exact.want(t, "id: 2\n\n")
		late.want(t, "id: 1\n\nevent: missed\nid: 2\ndata: {\"event\":\"missed\",\"index\":2}\n\n")
		cancel()
		<-exactEnded
		<-lateEnded
		for _, id := range []string{"-1", "x", "1.5", "18446744073709551616"} {
			w := ask(NewHandler(Config{Backend: f}), "GET", "/v1/watch", "", "Last-Event-ID", id)
			wantRefusal(t, id, w, 400, "invalid Last-Event-ID "+id+": must be the id of an event, a whole number")
		}
	})
}

func TestWatchKeepsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ctx, cancel := context.WithCancel(t.Context())
		p, ended := watchPage(ctx, f, "/v1/watch", "")
		p.want(t, "id: 0\n\n")
		for range 3 {
			time.Sleep(KeepAlive - 1)
			p.want(t, "")
			time.Sleep(time.Nanosecond)
			p.want(t, ": alive\n\n")
			p.mu.Lock()
			left := time.Until(p.deadline)
			p.mu.Unlock()
			if left != sendTime {
				t.Errorf("the client has %v to receive it, not %v", left, sendTime)
			}
		}
		cancel()
		<-ended
	})
}

// A watch ends with its client, which a write notices, or with the node, which
// says why.
func TestWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		p, ended := watchPage(t.Context(), f, "/v1/watch", "")
		gone, goneEnded := watchPage(t.Context(), f, "/v1/watch", "")
		gone.mu.Lock()
		gone.gone = true
		gone.mu.Unlock()
		time.Sleep(KeepAlive)
		<-goneEnded
		p.want(t, "id: 0\n\n: alive\n\n")
		f.closeWatches()
		<-ended
		p.want(t, ": the watch ends: watching: the node is closed\n\n")
		if len(f.watchers) != 0 {
			t.Errorf("%d watchers are left", len(f.watchers))
		}
	})
}

// Events that are ready together go out together, but not without bound.
func TestWatchBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ctx, cancel := context.WithCancel(t.Context())
		p, ended := watchPage(ctx, f, "/v1/watch", "")
		p.want(t, "id: 0\n\n")
		f.mu.Lock()
		for i := range uint64(5000) {
			f.emit(tenure.Event{Kind: tenure.EventGranted, Index: i + 1, Record: tenure.Record{Key: strings.Repeat("k", 100)}})
		}
		f.mu.Unlock()
		synctest.Wait()
		got := p.take()
		if n := strings.Count(got, "\n\n"); n != 5000 || !strings.Contains(got, "\nid: 5000\n") {
			t.Errorf("%d events arrived", n)
		}
		if p.largest > sendSize+1000 {
			t.Errorf("%d bytes went out at once", p.largest)
		}
		cancel()
		<-ended
	})
}
