package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure"
)

// Every verb of the client does at the backend what it says.
func TestClientVerbs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, n, ctx := newFake(), &network{}, t.Context()
		n.serve(t, "n1:1", NewHandler(Config{Backend: f}))
		c := n.client(t, "n1:1")
		for _, key := range []string{"a/b", "..", ".", "a//b", "%", "%2F", "ü", "a b", "a+b", "?#&;", strings.Repeat("ü", 256)} {
			g, err := c.Acquire(ctx, AcquireRequest{Key: key, Owner: "r1", RequestID: "a", TTLMillis: 1000})
			want := Record{Key: key, Owner: "r1", Epoch: 1, Held: true}
			if err != nil || g != (Grant{want, 1000}) {
				t.Fatalf("%s: %+v, %v", key, g, err)
			}
			lease, err := c.Get(ctx, key)
			if err != nil || lease != (Lease{Record: want, TTLMillis: 1000, RemainingMillis: 500}) {
				t.Fatalf("%s: %+v, %v", key, lease, err)
			}
		}
		results, err := c.Renew(ctx, RenewRequest{Owner: "r1", TTLMillis: 2000, Tenures: []Tenure{{"ü", 1}, {"x", 1}}})
		if err != nil || results[0].Err != nil || results[0].Grant.TTLMillis != 2000 || !errors.Is(results[1].Err, tenure.ErrLost) {
			t.Errorf("%+v, %v", results, err)
		}
		if g, err := c.Forget(ctx, ForgetRequest{Key: "ü", Owner: "r1", Epoch: 1}); err != nil || g.Record.ForgottenAtEpoch != 1 {
			t.Errorf("%+v, %v", g, err)
		}
		results, err = c.Release(ctx, ReleaseRequest{Owner: "r1", Tenures: []Ending{{Key: "ü", Epoch: 1}, {Key: "%", RequestID: "a"}}})
		if err != nil || results[0].Grant.Record.Held || results[1].Err != nil {
			t.Errorf("%+v, %v", results, err)
		}
		var keys []string
		for l := (tenure.Listing{Owner: "r1", Prefix: "a", Limit: 2}); ; {
			p, err := c.List(ctx, l)
			if err != nil {
				t.Fatal(err)
			}
			for _, lease := range p.Leases {
				keys = append(keys, lease.Record.Key)
			}
			if l.Cursor = p.Cursor; p.Cursor == "" {
				break
			}
		}
		if want := []string{"a b", "a+b", "a//b", "a/b"}; !slices.Equal(keys, want) {
			t.Errorf("listed %q, not %q", keys, want)
		}
		if s, err := c.Status(ctx); err != nil || !reflect.DeepEqual(s, StatusOf(f.Status())) {
			t.Errorf("%+v, %v", s, err)
		}
		if err := c.Join(ctx, JoinRequest{ID: "../n3", Addr: "h:1", Nonvoter: true}); err != nil {
			t.Error(err)
		}
		if err := c.Transfer(ctx, "n2"); err != nil {
			t.Error(err)
		}
		if err := c.Remove(ctx, "n1"); err != nil {
			t.Error(err)
		}
		members, err := c.Members(ctx)
		want := []Member{{ID: "n2", Incarnation: "b2", Addr: "127.0.0.1:7401", Voter: true, Leader: true}, {ID: "../n3", Addr: "h:1"}}
		if err != nil || !slices.Equal(members, want) {
			t.Errorf("%+v, %v", members, err)
		}
		if err := c.Remove(ctx, "../n3"); err != nil || len(f.members) != 1 {
			t.Errorf("%v, %+v", err, f.members)
		}
	})
}

// A refusal comes back as the error that it stands for.
func TestClientErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, n, ctx := newFake(), &network{}, t.Context()
		n.serve(t, "n1:1", NewHandler(Config{Backend: f}))
		c := n.client(t, "n1:1")
		grantOf(f, "k")
		_, err := c.Acquire(ctx, AcquireRequest{Key: "k", Owner: "r2", RequestID: "a", TTLMillis: 1000})
		var held *tenure.HeldError
		if !errors.As(err, &held) || held.Record.Owner != "r1" || held.Remaining != 1501*time.Millisecond {
			t.Errorf("%v", err)
		}
		_, err = c.Forget(ctx, ForgetRequest{Key: "k", Owner: "r2", Epoch: 7})
		want := &tenure.LostError{Key: "k", Owner: "r2", Epoch: 7, Record: tenure.Record{Key: "k", Owner: "r1", Epoch: 1, Held: true}}
		if !reflect.DeepEqual(err, error(want)) {
			t.Errorf("%#v", err)
		}
		_, err = c.Renew(ctx, RenewRequest{Owner: "r2", TTLMillis: 5})
		var invalid *tenure.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != "ttl_ms" {
			t.Errorf("%v", err)
		}
	})
}

// recorder is a node that answers in one way and counts.
type recorder struct {
	answer func(w http.ResponseWriter)
	asked  int
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	r.asked++
	r.answer(w)
}

func refusing(err error) *recorder {
	return &recorder{answer: func(w http.ResponseWriter) { refuse(w, err) }}
}

func saying(status int, body string) *recorder {
	return &recorder{answer: func(w http.ResponseWriter) {
		w.Header().Set("Location", "/elsewhere") // of account to a 302 only
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}}
}

func breaking() *recorder {
	return &recorder{answer: func(http.ResponseWriter) { panic(http.ErrAbortHandler) }}
}

// The client goes on to the next address only if the one before surely did
// nothing.
func TestClientFailsOver(t *testing.T) {
	notApplied := &tenure.UnavailableError{Reason: "no leader"}
	maybe := &tenure.UnavailableError{MaybeApplied: true, Reason: "leadership lost"}
	for _, c := range []struct {
		name  string
		first func() *recorder // nil: nothing listens
		read  bool
		next  bool // the second address is asked
		maybe bool // of the error, if it isn't
	}{
		{"nothing listens", nil, false, true, false},
		{"not applied", func() *recorder { return refusing(notApplied) }, false, true, false},
		{"maybe applied", func() *recorder { return refusing(maybe) }, false, false, true},
		{"cut off", breaking, false, false, true},
		{"cut off in a read", breaking, true, true, false},
		{"not a node", func() *recorder { return saying(404, "<html>") }, false, false, true},
		{"not a node, in a read", func() *recorder { return saying(404, "<html>") }, true, true, false},
		{"moved", func() *recorder { return saying(302, "{}") }, true, true, false},
		{"half an answer", func() *recorder { return saying(200, `{"record":{"key":`) }, false, false, true},
		{"half an answer to a read", func() *recorder { return saying(200, `{"record":{"key":`) }, true, false, false},
		{"a text", func() *recorder { return saying(200, `done`) }, false, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network{}
				if c.first != nil {
					n.serve(t, "n1:1", c.first())
				}
				second := saying(200, `{"record":{"key":"k","epoch":4}}`)
				n.serve(t, "n2:1", second)
				client := n.client(t, "n1:1", "n2:1")
				var epoch Epoch
				var err error
				if c.read {
					var lease Lease
					lease, err = client.Get(t.Context(), "k")
					epoch = lease.Record.Epoch
				} else {
					var g Grant
					g, err = client.Acquire(t.Context(), AcquireRequest{Key: "k", Owner: "r", RequestID: "a", TTLMillis: 1000})
					epoch = g.Record.Epoch
				}
				var u *tenure.UnavailableError
				switch {
				case c.next && (err != nil || epoch != 4 || second.asked != 1):
					t.Errorf("%d, %v; the second was asked %d times", epoch, err, second.asked)
				case !c.next && (!errors.As(err, &u) || u.MaybeApplied != c.maybe || second.asked != 0):
					t.Errorf("%v; the second was asked %d times", err, second.asked)
				}
			})
		})
	}
}

// The address that answered last is asked first.
func TestClientStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		n.serve(t, "n2:1", NewHandler(Config{Backend: newFake()}))
		c := n.client(t, "n1:1", "n2:1", "n3:1")
		for _, want := range [][]string{{"n1:1", "n2:1"}, nil} { // then over the same connection
			if _, err := c.Status(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := n.dialled(); !slices.Equal(got, want) {
				t.Errorf("dialled %q, not %q", got, want)
			}
		}
	})
}

// The error tells what each address said.
func TestClientReachesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		n.serve(t, "n2:1", refusing(&tenure.UnavailableError{Reason: "no leader"}))
		_, err := n.client(t, "n1:1", "n2:1", "n3:1").Renew(t.Context(), RenewRequest{})
		const want = "unavailable (not applied): asking n1:1: connection refused; no leader; asking n3:1: connection refused"
		if err == nil || err.Error() != want || !errors.Is(err, errNobody) {
			t.Errorf("%v", err)
		}
	})
}

func TestClientHonoursContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		hangs := NewHandler(Config{Backend: hung{newFake()}})
		n.serve(t, "n1:1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del(TimeoutHeader) // as a node that is frozen
			hangs.ServeHTTP(w, r)
		}))
		c := n.client(t, "n1:1", "n2:1")
		for name, call := range map[string]func(context.Context) error{
			"renew": func(ctx context.Context) error {
				_, err := c.Renew(ctx, RenewRequest{Owner: "r", TTLMillis: 1000, Tenures: []Tenure{{"k", 1}}})
				return err
			},
			"get": func(ctx context.Context) error {
				_, err := c.Get(ctx, "k")
				return err
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			start := time.Now()
			err := call(ctx)
			cancel()
			var u *tenure.UnavailableError
			if !errors.As(err, &u) || u.MaybeApplied != (name == "renew") || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 5*time.Second {
				t.Errorf("%s: %v after %v", name, err, time.Since(start))
			}
		}
	})
}

func TestClientCountsResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		n.serve(t, "n1:1", saying(200, `{"results":[]}`))
		_, err := n.client(t, "n1:1").Release(t.Context(), ReleaseRequest{Tenures: []Ending{{Key: "k"}}})
		var u *tenure.UnavailableError
		if !errors.As(err, &u) || !u.MaybeApplied {
			t.Errorf("%v", err)
		}
	})
}

func TestClientAddresses(t *testing.T) {
	for _, addrs := range [][]string{nil, {""}, {"h"}, {"h:"}, {"h:x"}, {"h:0"}, {"h:65536"}, {"h:-1"}, {"http://h:1"}, {"u@h:1"}, {"h/x:1"}, {"h:1", "::1:1"}, {"h:1", ""}} {
		c, err := NewClient(addrs...)
		var invalid *tenure.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != "addr" || c != nil {
			t.Errorf("%q: %v", addrs, err)
		}
	}
	for _, addr := range []string{"h:1", "127.0.0.1:65535", "[::1]:7400", ":7400"} {
		if _, err := NewClient(addr); err != nil {
			t.Errorf("%q: %v", addr, err)
		}
	}
}
