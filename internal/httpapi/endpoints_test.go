package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"example.com/tenure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask sends one request and returns the answer.
func ask(h http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A step is a request and the whole answer to it.
type step struct {
	request string // METHOD TARGET
	body    string
	status  int
	answer  string
}

func (s step) run(t *testing.T, h http.Handler) {
	t.Helper()
	method, target, _ := strings.Cut(s.request, " ")
	w := ask(h, method, target, s.body)
	if w.Code != s.status || strings.TrimSpace(w.Body.String()) != s.answer {
		t.Errorf("%s %s\nis  %d %s\nnot %d %s", s.request, s.body, w.Code, w.Body, s.status, s.answer)
	}
	if kind := w.Header().Get("Content-Type"); kind != "application/json" {
		t.Errorf("%s: Content-Type %q", s.request, kind)
	}
}

// The story of two keys, byte for byte as the documentation shows it.
func TestStory(t *testing.T) {
	h := NewHandler(Config{Backend: newFake()})
	for _, s := range []step{
		{"GET /v1/leases/t1", "", 200,
			`{"record":{"key":"t1","owner":"","epoch":0,"forgotten_at_epoch":0,"held":false},"ttl_ms":0,"expired":false,"remaining_ms":0}`},
		{"POST /v1/acquire", `{"key":"t1","owner":"r1/ab12","request_id":"a","ttl_ms":10000,"wait_ms":0}`, 200,
			`{"record":{"key":"t1","owner":"r1/ab12","epoch":1,"forgotten_at_epoch":0,"held":true},"ttl_ms":10000}`},
		{"POST /v1/acquire", `{"key":"t1","owner":"r1/ab12","request_id":"a","ttl_ms":10000}`, 200, // a retry
			`{"record":{"key":"t1","owner":"r1/ab12","epoch":1,"forgotten_at_epoch":0,"held":true},"ttl_ms":10000}`},
		{"POST /v1/acquire", `{"key":"t1","owner":"r2/cd34","request_id":"b","ttl_ms":10000}`, 409,
			`{"error":"held","message":"t1: held by r1/ab12 at epoch 1, which expires in 1.5s unless it is renewed: wait or try again",` +
				`"record":{"key":"t1","owner":"r1/ab12","epoch":1,"forgotten_at_epoch":0,"held":true},"remaining_ms":1501}`},
		{"POST /v1/acquire", `{"owner":"r2/cd34","ttl_ms":5000,"keys":[{"key":"t2","request_id":"c"},{"key":"t1","request_id":"d"},{"key":"","request_id":"e"}]}`, 200,
			`{"results":[{"record":{"key":"t2","owner":"r2/cd34","epoch":1,"forgotten_at_epoch":0,"held":true},"ttl_ms":5000},` +
				`{"error":"held","message":"t1: held by r1/ab12 at epoch 1, which expires in 1.5s unless it is renewed: wait or try again",` +
				`"record":{"key":"t1","owner":"r1/ab12","epoch":1,"forgotten_at_epoch":0,"held":true},"remaining_ms":1501},` +
				`{"error":"invalid","message":"invalid key \"\": must be 1 to 512 bytes of UTF-8 without control characters","field":"key","value":"\"\"","bound":"1 to 512 bytes of UTF-8 without control characters"}]}`},
		{"POST /v1/renew", `{"owner":"r1/ab12","ttl_ms":20000,"tenures":[{"key":"t1","epoch":1},{"key":"t2","epoch":"1"}]}`, 200,
			`{"results":[{"record":{"key":"t1","owner":"r1/ab12","epoch":1,"forgotten_at_epoch":0,"held":true},"ttl_ms":20000},` +
				`{"error":"lost","message":"t2: the tenure of r1/ab12 (epoch 1) is over: held by r2/cd34 at epoch 1: acquire the key again",` +
				`"record":{"key":"t2","owner":"r2/cd34","epoch":1,"forgotten_at_epoch":0,"held":true},"key":"t2","owner":"r1/ab12","epoch":1}]}`},
		{"GET /v1/leases/t1", "", 200,
			`{"record":{"key":"t1","owner":"r1/ab12","epoch":1,"forgotten_at_epoch":0,"held":true},"ttl_ms":20000,"expired":false,"remaining_ms":10000}`},
		{"POST /v1/forget", `{"key":"t1","owner":"r1/ab12","epoch":1}`, 200,
			`{"record":{"key":"t1","owner":"r1/ab12","epoch":1,"forgotten_at_epoch":1,"held":true},"ttl_ms":20000}`},
		{"POST /v1/forget", `{"key":"t1","owner":"r1/ab12","epoch":2}`, 410,
			`{"error":"lost","message":"t1: the tenure of r1/ab12 (epoch 2) is over: held by r1/ab12 at epoch 1: acquire the key again",` +
				`"record":{"key":"t1","owner":"r1/ab12","epoch":1,"forgotten_at_epoch":1,"held":true},"key":"t1","owner":"r1/ab12","epoch":2}`},
		{"POST /v1/release", `{"owner":"r2/cd34","tenures":[{"key":"t2","request_id":"c"}]}`, 200,
			`{"results":[{"record":{"key":"t2","owner":"r2/cd34","epoch":1,"forgotten_at_epoch":0,"held":false},"ttl_ms":0}]}`},
		{"POST /v1/release", `{"owner":"r2/cd34","tenures":[{"key":"t2","epoch":1}],"forget":true}`, 200,
			`{"results":[{"error":"lost","message":"t2: the tenure of r2/cd34 (epoch 1) is over: free, last at epoch 1: acquire the key again",` +
				`"record":{"key":"t2","owner":"r2/cd34","epoch":1,"forgotten_at_epoch":0,"held":false},"key":"t2","owner":"r2/cd34","epoch":1}]}`},
		{"GET /v1/leases?limit=1", "", 200,
			`{"leases":[{"record":{"key":"t1","owner":"r1/ab12","epoch":1,"forgotten_at_epoch":1,"held":true},"ttl_ms":20000,"expired":false,"remaining_ms":10000}],"cursor":"t1"}`},
		{"GET /v1/leases?limit=1&cursor=t1", "", 200,
			`{"leases":[{"record":{"key":"t2","owner":"r2/cd34","epoch":1,"forgotten_at_epoch":0,"held":false},"ttl_ms":0,"expired":false,"remaining_ms":0}]}`},
		{"GET /v1/leases?owner=r2%2Fcd34", "", 200, `{"leases":[]}`},
		{"GET /v1/leases?prefix=x", "", 200, `{"leases":[]}`},
		{"POST /v1/renew", `{"owner":"r1/ab12","ttl_ms":20000,"tenures":[]}`, 200, `{"results":[]}`},
		{"GET /v1/status", "", 200,
			`{"id":"n1","incarnation":"a1","cluster_id":"c0ffee","addr":"127.0.0.1:7400","version":"test","role":"leader","leader":"n1","leader_addr":"127.0.0.1:7400",` +
				`"term":3,"commit_index":4,"applied_index":4,"checksum":"0000000000000abc","largest_ttl_ms":3600000,"records":2,"held":0,"waiting":0,` +
				`"members":[{"id":"n1","incarnation":"a1","addr":"127.0.0.1:7400","voter":true,"leader":true},{"id":"n2","incarnation":"b2","addr":"127.0.0.1:7401","voter":true,"leader":false}]}`},
	} {
		s.run(t, h)
	}
}

func TestClusterVerbs(t *testing.T) {
	f := newFake()
	h := NewHandler(Config{Backend: f})
	const n1 = `{"id":"n1","incarnation":"a1","addr":"127.0.0.1:7400","voter":true,"leader":`
	for _, s := range []step{
		{"POST /v1/members", `{"id":"n/3","addr":"127.0.0.1:7402","nonvoter":true}`, 200, `{}`},
		{"DELETE /v1/members/n2", "", 200, `{}`},
		{"GET /v1/members", "", 200, `{"members":[` + n1 + `true},{"id":"n/3","incarnation":"","addr":"127.0.0.1:7402","voter":false,"leader":false}]}`},
		{"POST /v1/transfer", `{"id":"n/3"}`, 200, `{}`},
		{"GET /v1/members", "", 200, `{"members":[` + n1 + `false},{"id":"n/3","incarnation":"","addr":"127.0.0.1:7402","voter":false,"leader":true}]}`},
		{"POST /v1/transfer", `{}`, 200, `{}`},
		{"DELETE /v1/members/n%2F3", "", 200, `{}`},
		{"GET /v1/members", "", 200, `{"members":[` + n1 + `false}]}`},
		{"GET /healthz", "", 200, `{"id":"n1","role":"leader"}`},
		{"GET /readyz", "", 200, `{"id":"n1","role":"leader"}`},
	} {
		s.run(t, h)
	}
	f.notReady = &tenure.UnavailableError{Reason: "no leader is known"}
	step{"GET /readyz", "", 503, `{"error":"unavailable","message":"unavailable (not applied): no leader is known",` +
		`"maybe_applied":false,"reason":"no leader is known"}`}.run(t, h)
	step{"GET /healthz", "", 200, `{"id":"n1","role":"leader"}`}.run(t, h)
}

// A node without a leader says what each caller knows. What only reads was not
// applied.
func TestUnavailable(t *testing.T) {
	f := newFake()
	f.broken = &tenure.UnavailableError{Key: "t1", MaybeApplied: true, Reason: "no leader"}
	h := NewHandler(Config{Backend: f})
	const maybe = `{"error":"unavailable","message":"t1: unavailable (may have been applied): no leader","maybe_applied":true,"key":"t1","reason":"no leader"}`
	const not = `{"error":"unavailable","message":"t1: unavailable (not applied): no leader","maybe_applied":false,"key":"t1","reason":"no leader"}`
	for _, s := range []step{
		{"POST /v1/acquire", `{"key":"t1","owner":"r1","request_id":"a","ttl_ms":10000}`, 503, maybe},
		{"POST /v1/renew", `{"owner":"r1","ttl_ms":10000,"tenures":[{"key":"t1","epoch":1}]}`, 200, `{"results":[` + maybe + `]}`},
		{"POST /v1/forget", `{"key":"t1","owner":"r1","epoch":1}`, 503, maybe},
		{"GET /v1/leases/t1", "", 503, not},
		{"GET /v1/leases", "", 503, not},
		{"GET /v1/members", "", 503, not},
		{"GET /v1/watch", "", 503, not},
		{"DELETE /v1/members/n1", "", 503, maybe},
	} {
		s.run(t, h)
	}
}

// Keys are compared byte for byte, whatever a path usually does to them.
func TestKeysInPaths(t *testing.T) {
	h := NewHandler(Config{Backend: newFake()})
	for _, c := range []struct{ path, key string }{
		{"a/b", "a/b"},
		{"a%2Fb", "a/b"},
		{"a%2fb", "a/b"},
		{"a//b", "a//b"},
		{"/", "/"},
		{"%2e%2E", ".."},
		{"..", ".."},
		{"a/../b", "a/../b"},
		{"./", "./"},
		{"%25", "%"},
		{"%252F", "%2F"},
		{"%C3%BC", "ü"},
		{"u%CC%88", "u\u0308"}, // not composed
		{"a%20b", "a b"},
		{"a+b", "a+b"},
		{"a;b=c", "a;b=c"},
		{"%3Fa%23b", "?a#b"},
	} {
		w := ask(h, "GET", "/v1/leases/"+c.path, "")
		want := `{"record":{"key":"` + c.key + `","owner":"","epoch":0,"forgotten_at_epoch":0,"held":false},"ttl_ms":0,"expired":false,"remaining_ms":0}`
		if got := strings.TrimSpace(w.Body.String()); w.Code != 200 || got != want {
			t.Errorf("GET %s\nis  %d %s\nnot 200 %s", c.path, w.Code, got, want)
		}
	}
}

func TestHead(t *testing.T) {
	h := NewHandler(Config{Backend: newFake()})
	for target, status := range map[string]int{"/healthz": 200, "/v1/status": 200, "/v1/leases/k": 200, "/v1/watch": 405, "/v1/acquire": 405} {
		if w := ask(h, "HEAD", target, ""); w.Code != status {
			t.Errorf("HEAD %s is %d, not %d", target, w.Code, status)
		}
	}
}
