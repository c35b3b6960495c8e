package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure"
)

// A script is a node whose watches are written beforehand, one a connection:
// what it sends before it breaks off. After the last one it hangs.
type script struct {
	mu     sync.Mutex
	parts  []string
	resume []string // the Last-Event-ID of each connection
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.resume = append(s.resume, r.Header.Get("Last-Event-ID"))
	last := len(s.parts) == 0
	part := ""
	if !last {
		part, s.parts = s.parts[0], s.parts[1:]
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, part)
	_ = http.NewResponseController(w).Flush()
	if last {
		<-r.Context().Done()
	}
	panic(http.ErrAbortHandler)
}

// sse is an event as a node writes it; last ones have an id.
func sse(kind string, index uint64, key string, last bool) string {
	id := ""
	if last {
		id = fmt.Sprintf("id: %d\n", index)
	}
	return fmt.Sprintf("event: %s\n%sdata: {\"event\":%q,\"index\":%d,\"record\":{\"key\":%q}}\n\n", kind, id, kind, index, key)
}

// collect watches until so many events came, and returns them.
func collect(ctx context.Context, c *Client, o WatchOptions, count int) (seen []string, err error) {
	enough := errors.New("enough")
	begun := 0
	err = c.Watch(ctx, o, func() { begun++ }, func(e Event) error {
		s := fmt.Sprintf("%s %d", e.Event, e.Index)
		if e.Record != nil {
			s += " " + e.Record.Key
		}
		if seen = append(seen, s); len(seen) == count {
			return enough
		}
		return nil
	})
	if errors.Is(err, enough) {
		err = nil
	}
	if len(seen) > 0 && begun != 1 {
		err = errors.Join(err, fmt.Errorf("it was told %d times that the watch has begun", begun))
	}
	return seen, err
}

func TestClientWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, n := newFake(), &network{}
		n.serve(t, "n1:1", NewHandler(Config{Backend: f}))
		c := n.client(t, "n1:1")
		time.AfterFunc(time.Hour, func() {
			grantOf(f, "x")
			grantOf(f, "a/1 ü")
			grantOf(f, "a/2")
		})
		seen, err := collect(t.Context(), c, WatchOptions{Prefix: "a/"}, 2)
		if want := []string{"granted 2 a/1 ü", "granted 3 a/2"}; err != nil || !slices.Equal(seen, want) {
			t.Errorf("%q, %v", seen, err)
		}
		// The server's comments kept it alive for the hour.
		if dials := n.dialled(); len(dials) != 1 {
			t.Errorf("dialled %q", dials)
		}
		seen, err = collect(t.Context(), c, WatchOptions{Key: "x", After: 1, HasAfter: true}, 1)
		if want := []string{"missed 3"}; err != nil || !slices.Equal(seen, want) {
			t.Errorf("%q, %v", seen, err)
		}
		_, err = collect(t.Context(), c, WatchOptions{Key: "x", Prefix: "y"}, 1)
		if !errors.Is(err, tenure.ErrInvalid) {
			t.Errorf("%v", err)
		}
	})
}

// A watch that is cut off anywhere goes on without a hole and without a repeat.
func TestClientWatchResumes(t *testing.T) {
	entry := sse("forgotten", 7, "a", false) + sse("released", 7, "a", false) + sse("granted", 7, "b", true)
	for _, c := range []struct {
		name   string
		parts  []string
		want   []string
		resume []string
	}{
		{"before the first event", []string{"id: 5\n\n", sse("granted", 6, "a", true)},
			[]string{"granted 6 a"}, []string{"", "5"}},
		{"between entries", []string{"id: 5\n\n" + sse("granted", 6, "a", true), sse("granted", 9, "b", true)},
			[]string{"granted 6 a", "granted 9 b"}, []string{"", "6"}},
		{"within an entry, twice",
			[]string{"id: 5\n\n" + sse("forgotten", 7, "a", false), sse("forgotten", 7, "a", false) + sse("released", 7, "a", false), entry + sse("granted", 8, "c", true)},
			[]string{"forgotten 7 a", "released 7 a", "granted 7 b", "granted 8 c"}, []string{"", "5", "5"}},
		{"within an entry, earlier the second time",
			[]string{"id: 5\n\n" + sse("forgotten", 7, "a", false) + sse("released", 7, "a", false), sse("forgotten", 7, "a", false), entry},
			[]string{"forgotten 7 a", "released 7 a", "granted 7 b"}, []string{"", "5", "5"}},
		{"within an event", []string{"id: 5\n\n" + sse("granted", 6, "a", true)[:40], sse("granted", 6, "a", true)},
			[]string{"granted 6 a"}, []string{"", "5"}},
		{"within an entry, whose rest is missed",
			[]string{"id: 5\n\n" + sse("forgotten", 7, "a", false), "event: missed\nid: 7\ndata: {\"event\":\"missed\",\"index\":7}\n\n", sse("granted", 8, "c", true)},
			[]string{"forgotten 7 a", "missed 7", "granted 8 c"}, []string{"", "5", "7"}},
		{"an event that can't be read", []string{"id: 5\n\nid: 6\ndata: {\n\n", sse("granted", 6, "a", true)},
			[]string{"granted 6 a"}, []string{"", "5"}},
		{"comments and fields of a later version", []string{": hello\n\nid: 5\nretry: 10\n\n: alive\n\n" + sse("granted", 6, "a", true)},
			[]string{"granted 6 a"}, []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, s := &network{}, &script{parts: c.parts}
				n.serve(t, "n1:1", s)
				seen, err := collect(t.Context(), n.client(t, "n1:1"), WatchOptions{}, len(c.want))
				if err != nil || !slices.Equal(seen, c.want) {
					t.Errorf("saw %q, %v; want %q", seen, err, c.want)
				}
				if !slices.Equal(s.resume, c.resume) {
					t.Errorf("resumed after %q, not %q", s.resume, c.resume)
				}
			})
		})
	}
}

// A watch goes on at another node when its own is gone, or hangs.
func TestClientWatchFailsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		first := &script{}
		stop := n.serve(t, "n1:1", first) // hangs
		n.serve(t, "n2:1", &script{parts: []string{sse("granted", 6, "a", true)}})
		c := n.client(t, "n1:1", "n2:1")
		time.AfterFunc(2*silence+time.Second, stop)
		start := time.Now()
		seen, err := collect(t.Context(), c, WatchOptions{After: 5, HasAfter: true}, 1)
		if want := []string{"granted 6 a"}; err != nil || !slices.Equal(seen, want) {
			t.Errorf("%q, %v", seen, err)
		}
		if took := time.Since(start); took < 2*silence || took > 2*silence+3*time.Second {
			t.Errorf("after %v", took)
		}
		// It took silence for a dead connection, and tried again, twice.
		if want := []string{"5", "5", "5"}; !slices.Equal(first.resume, want) {
			t.Errorf("resumed after %q, not %q", first.resume, want)
		}
	})
}

func TestClientWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		c := n.client(t, "n1:1")
		// Nobody was ever there.
		start := time.Now()
		if _, err := collect(t.Context(), c, WatchOptions{}, 1); !errors.Is(err, tenure.ErrUnavailable) || time.Since(start) != 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		// Nobody is there any more.
		stop := n.serve(t, "n1:1", NewHandler(Config{Backend: newFake()}))
		time.AfterFunc(time.Second, stop)
		if _, err := collect(t.Context(), c, WatchOptions{}, 1); !errors.Is(err, tenure.ErrUnavailable) {
			t.Errorf("%v", err)
		}
		if took := time.Since(start) - time.Second; took < patience || took > patience+2*backOffMost {
			t.Errorf("gave up after %v", took)
		}
		// The caller has enough, while it watches and while it would reconnect.
		for _, after := range []time.Duration{time.Minute, 10*time.Minute + 10*time.Second} {
			stop := n.serve(t, "n1:1", NewHandler(Config{Backend: newFake()}))
			time.AfterFunc(10*time.Minute, stop)
			ctx, cancel := context.WithTimeout(t.Context(), after)
			start := time.Now()
			if _, err := collect(ctx, c, WatchOptions{}, 1); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != after {
				t.Errorf("%v after %v", err, time.Since(start))
			}
			cancel()
			stop()
		}
	})
}
