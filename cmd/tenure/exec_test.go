package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/internal/httpapi"
)

// The scripts in testdata show what a user sees. These tests are for what a real
// cluster does not do on demand.

// fakeNode answers the API with what a test says.
func fakeNode(t *testing.T, answer http.HandlerFunc) (addr string) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// testPatience bounds every wait of a test. It is reached only if something is
// broken.
const testPatience = 30 * time.Second

// calls makes one call of the program.
func calls(args ...string) (stdout, stderr string, err error) {
	var out, bad bytes.Buffer
	err = exec(context.Background(), args, strings.NewReader(""), &out, &bad, []string{"PATH=/bin"})
	return out.String(), bad.String(), err
}

func TestAcquireSendsWhatWasAsked(t *testing.T) {
	var got []httpapi.AcquireRequest
	addr := fakeNode(t, func(w http.ResponseWriter, r *http.Request) {
		var request httpapi.AcquireRequest
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		got = append(got, request)
		fmt.Fprint(w, `{"record":{"key":"t1","owner":"o","epoch":7,"forgotten_at_epoch":2,"held":true},"ttl_ms":30000}`)
	})
	for range 2 {
		stdout, stderr, err := calls("acquire", "t1", "--owner", "o", "--ttl", "30s", "--wait", "1500ms", "--addr", addr)
		want := "KEY  OWNER  EPOCH  FORGOTTEN  STATE  TTL\nt1   o      7      2          held   30s\n"
		if err != nil || stdout != want || stderr != "" {
			t.Fatalf("acquire = %q, %q, %v", stdout, stderr, err)
		}
	}
	first, second := got[0], got[1]
	if first.RequestID == second.RequestID || tenure.ValidateRequestID(first.RequestID) != nil {
		t.Errorf("request ids %q and %q, want two", first.RequestID, second.RequestID)
	}
	if want := (httpapi.AcquireRequest{Key: "t1", Owner: "o", TTLMillis: 30000, WaitMillis: 1500, RequestID: first.RequestID}); first.Key != want.Key ||
		first.Owner != want.Owner || first.TTLMillis != want.TTLMillis || first.WaitMillis != want.WaitMillis {
		t.Errorf("sent %+v, want %+v", first, want)
	}
}

// An answer that leaves the outcome open gives the user what to find out with.
func TestAcquireOfUnknownOutcome(t *testing.T) {
	addr := fakeNode(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":"unavailable","message":"m","reason":"leadership was lost","maybe_applied":true,"key":"a b"}`)
	})
	args := []string{"acquire", "a b", "--owner", "it's me", "--request-id", "i1", "--addr", addr}
	stdout, stderr, err := calls(args...)
	want := `tenure acquire: a b: unavailable (may have been applied): leadership was lost
tenure acquire: call again with --request-id i1, which is safe, or give it back: tenure release 'a b' --owner 'it'\''s me' --request-id i1
`
	if stdout != "" || stderr != want || exitCode(err) != exitUnavailable {
		t.Errorf("exit code %d, stdout %q, stderr %s\nwant %s", exitCode(err), stdout, stderr, want)
	}
	stdout, stderr, _ = calls(append(args, "-o", "json")...)
	if stderr != "" || !strings.Contains(stdout, `"maybe_applied":true,"key":"a b","owner":"it's me","request_id":"i1"`) {
		t.Errorf("stdout %s, stderr %q", stdout, stderr)
	}
}

// A listing takes page after page, and not more than asked for.
func TestListTakesAllPages(t *testing.T) {
	const keys = 2345
	addr := fakeNode(t, func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
		if err != nil || limit < 1 || limit > tenure.MaxListing {
			t.Errorf("limit %q", r.URL.Query().Get("limit"))
		}
		var page httpapi.Leases
		for i := from; i < min(from+limit, keys); i++ {
			page.Leases = append(page.Leases, httpapi.Lease{Record: httpapi.Record{Key: fmt.Sprintf("k%05d", i)}})
		}
		if from+limit < keys {
			page.Cursor = strconv.Itoa(from + limit)
		}
		if err := json.NewEncoder(w).Encode(page); err != nil {
			t.Error(err)
		}
	})
	for limit, want := range map[string]int{"": keys, "1": 1, "1000": 1000, "1001": 1001, "9999": keys} {
		args := []string{"list", "--addr", addr, "-o", "json"}
		if limit != "" {
			args = append(args, "--limit", limit)
		}
		stdout, stderr, err := calls(args...)
		if got := strings.Count(stdout, "\n"); got != want || err != nil || stderr != "" {
			t.Errorf("list --limit %q printed %d lines (%q, %v), want %d", limit, got, stderr, err, want)
		}
	}
}

// A node that answers nonsense, or nothing that the verb can use, is no success.
func TestNonsenseIsUnavailable(t *testing.T) {
	for _, answer := range []string{"", "<html>", `{"results":[]}`, `[]`} {
		addr := fakeNode(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
		stdout, _, err := calls("renew", "t1", "--owner", "o", "--epoch", "1", "--addr", addr)
		if exitCode(err) != exitUnavailable || stdout != "" {
			t.Errorf("an answer %q: exit code %d, stdout %q", answer, exitCode(err), stdout)
		}
	}
}

// --timeout bounds the whole call.
func TestTimeout(t *testing.T) {
	block := make(chan struct{})
	addr := fakeNode(t, func(http.ResponseWriter, *http.Request) { <-block })
	t.Cleanup(func() { close(block) })
	start := time.Now()
	_, stderr, err := calls("get", "t1", "--timeout", "50ms", "--addr", addr)
	if exitCode(err) != exitUnavailable || time.Since(start) > testPatience {
		t.Errorf("exit code %d after %v: %s", exitCode(err), time.Since(start), stderr)
	}
}

func TestExitCode(t *testing.T) {
	held, lost := &tenure.HeldError{}, &tenure.LostError{}
	invalid, unavailable := &tenure.InvalidError{}, &tenure.UnavailableError{Err: context.Canceled}
	for _, c := range []struct {
		err  error
		code int
	}{
		{nil, exitDone},
		{errors.New("disk full"), exitFailed},
		{&usageError{text: "what?"}, exitUsage},
		{&usageError{what: "--ttl", invalid: invalid}, exitUsage},
		{invalid, exitUsage},
		{held, exitHeld},
		{fmt.Errorf("%w after %w", held, context.DeadlineExceeded), exitHeld},
		{lost, exitLost},
		{&tenure.FencedError{Err: lost}, exitLost},
		{unavailable, exitUnavailable},
		{&tenure.UnavailableError{Err: held}, exitUnavailable},
		{&unfinishedError{err: unavailable}, exitUnavailable},
		{&commandError{code: 143}, 143},
		{errors.Join(&commandError{code: exitLost, err: errors.New("fenced")}, errors.New("more")), exitLost},
	} {
		if got := exitCode(c.err); got != c.code {
			t.Errorf("exitCode(%v) = %d, want %d", c.err, got, c.code)
		}
	}
}

// Where SIGTERM and SIGKILL lie: a margin, and what dying takes, before the
// fence, but behind the instant at which a renewal is due.
func TestGrace(t *testing.T) {
	const second, ms = time.Second, time.Millisecond
	for _, c := range []struct{ ttl, margin, grace, dying time.Duration }{
		{10 * second, second, second, 250 * ms},
		{8 * second, 2 * second, 1750 * ms, 250 * ms},
		{9 * second, 6 * second, 750 * ms, 250 * ms},
		{2 * second, 200 * ms, 200 * ms, 180 * ms},
		{second, 0, 0, 100 * ms},
		{100 * ms, 10 * ms, 10 * ms, 9 * ms},
	} {
		r := run{ttl: c.ttl, margin: c.margin}
		if grace, dying := r.grace(), r.dying(); grace != c.grace || dying != c.dying {
			t.Errorf("grace and dying of a ttl of %v and a margin of %v = %v, %v, want %v, %v", c.ttl, c.margin, grace, dying, c.grace, c.dying)
		}
		if due := (c.ttl - c.margin) * 3 / 8; c.ttl-c.margin-r.grace()-r.dying() <= due {
			t.Errorf("with a ttl of %v and a margin of %v SIGTERM comes before a renewal is due", c.ttl, c.margin)
		}
	}
}

func TestEnvironment(t *testing.T) {
	r := run{call: &call{env: []string{"A=1", "TENURE_EPOCH=3", "TENURE_ADDR=x", "B"}}, key: "k=1"}
	got := r.environment("o", 7)
	c := call{env: got}
	for name, want := range map[string]string{"A": "1", "TENURE_ADDR": "x", "TENURE_KEY": "k=1", "TENURE_OWNER": "o", "TENURE_EPOCH": "7"} {
		if value := c.lookup(name); value != want {
			t.Errorf("%s = %q, want %q", name, value, want)
		}
	}
	if len(got) != 6 {
		t.Errorf("environment %q, want 6 entries", got)
	}
}

func TestQuoteArg(t *testing.T) {
	for text, want := range map[string]string{"": "''", "r1/ab": "r1/ab", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'", "ü": "'ü'"} {
		if got := quoteArg(text); got != want {
			t.Errorf("quoteArg(%q) = %s, want %s", text, got, want)
		}
	}
}

// A full disk behind standard output is a failure, not silence.
func TestOutputThatFails(t *testing.T) {
	var bad bytes.Buffer
	err := exec(context.Background(), []string{"version"}, strings.NewReader(""), brokenWriter{}, &bad, nil)
	if exitCode(err) != exitFailed || !strings.Contains(bad.String(), "no space left") {
		t.Errorf("exit code %d, stderr %q", exitCode(err), bad.String())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }
