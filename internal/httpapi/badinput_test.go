package httpapi

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/tenure"
)

// Every bad input is refused with the field, the value and the bound, and
// reaches nothing.
func TestBadInput(t *testing.T) {
	const text = "of UTF-8 without control characters"
	long := strings.Repeat("k", 513)
	for _, c := range []struct {
		request, body string
		status        int
		message       string
	}{
		// Keys, owners and ids.
		{"POST /v1/acquire", `{"key":"","owner":"r","request_id":"a","ttl_ms":1000}`, 400, `invalid key "": must be 1 to 512 bytes ` + text},
		{"POST /v1/acquire", `{"owner":"r","request_id":"a","ttl_ms":1000}`, 400, `invalid key "": must be 1 to 512 bytes ` + text},
		{"POST /v1/acquire", `{"key":"` + long + `","owner":"r","request_id":"a","ttl_ms":1000}`, 400, `invalid key 513 bytes, "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"...: must be 1 to 512 bytes ` + text},
		{"POST /v1/acquire", `{"key":"a\u0000b","owner":"r","request_id":"a","ttl_ms":1000}`, 400, `invalid key "a\x00b": must be 1 to 512 bytes ` + text},
		{"POST /v1/acquire", "{\"key\":\"a\xffb\",\"owner\":\"r\",\"request_id\":\"a\",\"ttl_ms\":1000}", 400, `invalid key "\"a\xffb\"": must be a string of valid Unicode`},
		{"POST /v1/acquire", `{"key":"a\ud800b","owner":"r","request_id":"a","ttl_ms":1000}`, 400, `invalid key "a\ud800b": must be a string of valid Unicode`},
		{"POST /v1/acquire", `{"key":"k","owner":"","request_id":"a","ttl_ms":1000}`, 400, `k: invalid owner "": must be 1 to 256 bytes ` + text},
		{"POST /v1/acquire", `{"key":"k","owner":"r\n","request_id":"a","ttl_ms":1000}`, 400, `k: invalid owner "r\n": must be 1 to 256 bytes ` + text},
		{"POST /v1/acquire", `{"key":"k","owner":"r","ttl_ms":1000}`, 400, `k: invalid request_id "": must be 1 to 64 bytes ` + text},
		{"POST /v1/renew", `{"owner":"","ttl_ms":1000,"tenures":[{"key":"k","epoch":1}]}`, 400, `invalid owner "": must be 1 to 256 bytes ` + text},
		{"POST /v1/release", `{"owner":"","tenures":[{"key":"k","epoch":1}]}`, 400, `invalid owner "": must be 1 to 256 bytes ` + text},
		{"POST /v1/forget", `{"owner":"","key":"k","epoch":1}`, 400, `k: invalid owner "": must be 1 to 256 bytes ` + text},
		{"GET /v1/leases/", "", 400, `invalid key "": must be 1 to 512 bytes ` + text},
		{"GET /v1/leases/%ff", "", 400, `invalid key "\xff": must be 1 to 512 bytes ` + text},
		{"GET /v1/leases/a%00", "", 400, `invalid key "a\x00": must be 1 to 512 bytes ` + text},

		// TTLs, waits and epochs.
		{"POST /v1/acquire", `{"key":"k","owner":"r","request_id":"a"}`, 400, `k: invalid ttl_ms 0: must be from 100 to 3600000`},
		{"POST /v1/acquire", `{"key":"k","owner":"r","request_id":"a","ttl_ms":-1}`, 400, `k: invalid ttl_ms -1: must be from 100 to 3600000`},
		{"POST /v1/acquire", `{"key":"k","owner":"r","request_id":"a","ttl_ms":99}`, 400, `k: invalid ttl_ms 99: must be from 100 to 3600000`},
		{"POST /v1/acquire", `{"key":"k","owner":"r","request_id":"a","ttl_ms":3600001}`, 400, `k: invalid ttl_ms 3600001: must be from 100 to 3600000`},
		{"POST /v1/acquire", `{"key":"k","owner":"r","request_id":"a","ttl_ms":86400001}`, 400, `k: invalid ttl_ms 86400001: must be from 100 to 3600000`},
		{"POST /v1/acquire", `{"key":"k","owner":"r","request_id":"a","ttl_ms":9223372036854775807}`, 400, `k: invalid ttl_ms 9223372036854775807: must be from 100 to 3600000`},
		{"POST /v1/acquire", `{"key":"k","owner":"r","request_id":"a","ttl_ms":9223372036854775808}`, 400,
			`invalid ttl_ms 9223372036854775808: must be a whole number, without fraction or exponent, that fits 64 bits`},
		{"POST /v1/acquire", `{"key":"k","owner":"r","request_id":"a","ttl_ms":1e4}`, 400, `invalid ttl_ms 1e4: must be a whole number, without fraction or exponent, that fits 64 bits`},
		{"POST /v1/acquire", `{"key":"k","owner":"r","request_id":"a","ttl_ms":"10s"}`, 400, `invalid ttl_ms "10s": must be a whole number, without fraction or exponent, that fits 64 bits`},
		{"POST /v1/acquire", `{"key":"k","owner":"r","request_id":"a","ttl_ms":1000,"wait_ms":-1}`, 400, `k: invalid wait_ms -1: must be from 0 to 86400000`},
		{"POST /v1/acquire", `{"key":"k","owner":"r","request_id":"a","ttl_ms":1000,"wait_ms":86400001}`, 400, `k: invalid wait_ms 86400001: must be from 0 to 86400000`},
		{"POST /v1/renew", `{"owner":"r","ttl_ms":99,"tenures":[{"key":"k","epoch":1}]}`, 400, `invalid ttl_ms 99: must be from 100 to 3600000`},
		{"POST /v1/forget", `{"owner":"r","key":"k","epoch":0}`, 400, `k: invalid epoch 0: must be from 1 to 9223372036854775807`},
		{"POST /v1/forget", `{"owner":"r","key":"k","epoch":"9223372036854775808"}`, 400, `k: invalid epoch 9223372036854775808: must be from 1 to 9223372036854775807`},
		{"POST /v1/forget", `{"owner":"r","key":"k","epoch":9007199254740993}`, 400, `invalid epoch 9007199254740993: must be a whole number from 1 to 2^53, or a string of digits up to "9223372036854775807"`},
		{"POST /v1/forget", `{"owner":"r","key":"k","epoch":-1}`, 400, `invalid epoch -1: must be a whole number from 1 to 2^53, or a string of digits up to "9223372036854775807"`},
		{"POST /v1/forget", `{"owner":"r","key":"k","epoch":null}`, 400, `invalid epoch null: must be a whole number from 1 to 2^53, or a string of digits up to "9223372036854775807"`},

		// The shape of a body.
		{"POST /v1/forget", `{"owner":"r","key":"k","epoch":1,"epok":2}`, 400, `invalid field "epok": must be one of key, owner, epoch`},
		{"POST /v1/forget", `{"Owner":"r","key":"k","epoch":1}`, 400, `invalid field "Owner": must be one of key, owner, epoch`},
		{"POST /v1/renew", `{"owner":"r","ttl_ms":1000,"tenures":[{"key":"k","epoch":1},{"key":"l","ttl_ms":5}]}`, 400, `invalid field "tenures[1].ttl_ms": must be one of key, epoch`},
		{"POST /v1/renew", `{"owner":"r","ttl_ms":1000,"tenures":[{"":1}]}`, 400, `invalid field "tenures[0].\"\"": must be one of key, epoch`},
		{"POST /v1/forget", `{"` + long + `":1}`, 400, `invalid field "515 bytes, \"\\\"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\"...": must be one of key, owner, epoch`},
		{"POST /v1/renew", `{"owner":"r","ttl_ms":1000,"tenures":[{"key":"k","epoch":1},{"key":5}]}`, 400, `invalid tenures[1].key 5: must be a string of valid Unicode`},
		{"POST /v1/renew", `{"owner":"r","ttl_ms":1000,"tenures":{"key":"k"}}`, 400, `invalid tenures {"key":"k"}: must be a JSON array`},
		{"POST /v1/renew", `{"owner":"r","ttl_ms":1000,"tenures":[[]]}`, 400, `invalid tenures[0] []: must be a JSON object`},
		{"POST /v1/renew", `{"owner":"r","ttl_ms":1000}`, 400, `invalid tenures left out: must be an array of tenures, which may be empty`},
		{"POST /v1/release", `{"owner":"r"}`, 400, `invalid tenures left out: must be an array of tenures, which may be empty`},
		{"POST /v1/release", `{"owner":"r","tenures":[],"forget":"yes"}`, 400, `invalid forget "yes": must be true or false`},
		{"POST /v1/release", `{"owner":"r","tenures":[{"key":"k","request_id":"a"}],"forget":true}`, 400,
			`invalid tenures[0].request_id a: must be left out where forget is true: it takes an epoch to forget`},
		{"POST /v1/forget", `{"owner":"r","owner":"s","key":"k","epoch":1}`, 400, `invalid owner "s": must be given once`},
		{"POST /v1/forget", `{"owner":null,"key":"k","epoch":1}`, 400, `invalid owner null: must be a string of valid Unicode`},
		{"POST /v1/forget", ``, 400, `invalid body "" (unexpected end of JSON input): must be one JSON object and nothing after it`},
		{"POST /v1/forget", `[]`, 400, `invalid body []: must be a JSON object`},
		{"POST /v1/forget", `{"owner":"r"`, 400, `invalid body {"owner":"r" (unexpected end of JSON input): must be one JSON object and nothing after it`},
		{"POST /v1/forget", `{"owner":"r","key":"k","epoch":1} {}`, 400,
			`invalid body {"owner":"r","key":"k","epoch":1} {} (invalid character '{' after top-level value): must be one JSON object and nothing after it`},
		{"POST /v1/acquire", `{"key":"k","owner":"r","ttl_ms":1000,"keys":[]}`, 400, `invalid key k: must be left out where keys are given`},
		{"POST /v1/acquire", `{"request_id":"a","owner":"r","ttl_ms":1000,"keys":[]}`, 400, `invalid request_id a: must be left out where keys are given, which have one each`},
		{"POST /v1/forget", strings.Repeat(" ", MaxBody+1), 413, `invalid body of more than 8388608 bytes: must be at most 8388608 bytes`},

		// Membership.
		{"POST /v1/members", `{"id":"","addr":"127.0.0.1:7400"}`, 400, `invalid id "": must be 1 to 64 bytes`},
		{"POST /v1/members", `{"id":"n4"}`, 400, `invalid addr "": must be HOST:PORT with a port from 1 to 65535`},
		{"POST /v1/members", `{"id":"n4","addr":"h:0"}`, 400, `invalid addr "h:0": must be HOST:PORT with a port from 1 to 65535`},
		{"POST /v1/members", `{"id":"n4","addr":"h:65536"}`, 400, `invalid addr "h:65536": must be HOST:PORT with a port from 1 to 65535`},

		// Paths, methods and queries.
		{"GET /", "", 404, `invalid path /: must be a path of the API, like /v1/leases`},
		{"GET /v1/lease/k", "", 404, `invalid path /v1/lease/k: must be a path of the API, like /v1/leases`},
		{"GET /v1//leases", "", 404, `invalid path /v1//leases: must be a path of the API, like /v1/leases`},
		{"GET /v1/x/../leases", "", 404, `invalid path /v1/x/../leases: must be a path of the API, like /v1/leases`},
		{"GET /v1/acquire", "", 405, `invalid method GET: must be POST for /v1/acquire`},
		{"DELETE /v1/members", "", 405, `invalid method DELETE: must be GET or POST for /v1/members`},
		{"PUT /v1/leases/k", "", 405, `invalid method PUT: must be GET for /v1/leases/k`},
		{"GET /v1/leases?limit=0", "", 400, `invalid limit 0: must be from 1 to 1000`},
		{"GET /v1/leases?limit=1001", "", 400, `invalid limit 1001: must be from 1 to 1000`},
		{"GET /v1/leases?limit=", "", 400, `invalid limit "": must be from 1 to 1000`},
		{"GET /v1/leases?owner=%ff", "", 400, `invalid owner "\xff": must be 1 to 256 bytes ` + text},
		{"GET /v1/leases?prefix=" + long, "", 400, `invalid prefix 513 bytes, "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"...: must be at most 512 bytes`},
		{"GET /v1/leases?prefix=a&prefix=b", "", 400, `invalid prefix b: must be given once`},
		{"GET /v1/leases?page=2", "", 400, `invalid query parameter "page": must be one of prefix, owner, limit, cursor`},
		{"GET /v1/leases/k?consistent=no", "", 400, `invalid query parameter "consistent": must be left out: there are none here`},
		{"POST /v1/acquire?wait=1", "{}", 400, `invalid query parameter "wait": must be left out: there are none here`},
		{"GET /v1/leases?a;b", "", 400, `invalid query a;b: must be well formed: invalid semicolon separator in query`},
		{"GET /v1/watch?key=", "", 400, `invalid key "": must be 1 to 512 bytes ` + text},
		{"GET /v1/watch?key=a&prefix=b", "", 400, `invalid prefix b: must be left out where a key is given`},
		{"GET /v1/watch?prefix=" + long, "", 400, `invalid prefix 513 bytes, "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"...: must be at most 512 bytes`},
	} {
		f := newFake()
		method, target, _ := strings.Cut(c.request, " ")
		w := ask(NewHandler(Config{Backend: f}), method, target, c.body)
		wantRefusal(t, c.request+" "+c.body[:min(len(c.body), 100)], w, c.status, c.message)
		if f.calls != 0 || len(f.records) != 0 || len(f.members) != 2 || len(f.watchers) != 0 {
			t.Errorf("%s %s changed something", c.request, c.body)
		}
	}
}

func wantRefusal(t *testing.T, what string, w *httptest.ResponseRecorder, status int, message string) {
	t.Helper()
	err := (call{}).refused("n1", w.Result())
	invalid, ok := err.(*tenure.InvalidError)
	if w.Code != status || !ok || invalid.Error() != message || invalid.Field == "" || invalid.Bound == "" {
		t.Errorf("%s\nis  %d %v\nnot %d %s", what, w.Code, err, status, message)
	}
}

// A malformed item has a result of its own and spoils no other.
func TestBadItems(t *testing.T) {
	h := NewHandler(Config{Backend: newFake()})
	ask(h, "POST", "/v1/acquire", `{"key":"k","owner":"r","request_id":"a","ttl_ms":1000}`)
	good := `{"record":{"key":"k","owner":"r","epoch":1,"forgotten_at_epoch":0,"held":true},"ttl_ms":1000}`
	bad := func(field, value, bound string) string {
		quoted := strings.ReplaceAll(value, `"`, `\"`)
		return fmt.Sprintf(`{"error":"invalid","message":"k: invalid %s %s: must be %s","key":"k","field":"%s","value":"%s","bound":"%s"}`, field, quoted, bound, field, quoted, bound)
	}
	step{"POST /v1/renew", `{"owner":"r","ttl_ms":1000,"tenures":[{"key":"k","epoch":0},{"key":"k","epoch":1}]}`, 200,
		`{"results":[` + bad("epoch", "0", "from 1 to 9223372036854775807") + `,` + good + `]}`}.run(t, h)
	step{"POST /v1/acquire", `{"owner":"r","ttl_ms":1000,"keys":[{"key":"k","request_id":""},{"key":"k","request_id":"a"}]}`, 200,
		`{"results":[` + bad("request_id", `""`, "1 to 64 bytes of UTF-8 without control characters") + `,` + good + `]}`}.run(t, h)
	// The largest TTL is the cluster's to judge, item by item.
	step{"POST /v1/renew", `{"owner":"r","ttl_ms":3600001,"tenures":[{"key":"k","epoch":1}]}`, 200,
		`{"results":[` + bad("ttl_ms", "3600001", "from 100 to 3600000") + `]}`}.run(t, h)
}

func TestAllowHeader(t *testing.T) {
	w := ask(NewHandler(Config{Backend: newFake()}), "PATCH", "/v1/members", "")
	if got := w.Header().Get("Allow"); got != "GET, POST" {
		t.Errorf("Allow: %q", got)
	}
}

func TestContentType(t *testing.T) {
	h := NewHandler(Config{Backend: newFake()})
	for kind, status := range map[string]int{
		"": 200, "application/json": 200, "application/json; charset=utf-8": 200, "text/json": 200, "application/vnd.x+json": 200, "application/x-www-form-urlencoded": 200,
		"application/xml": 415, "multipart/form-data; boundary=x": 415, "text/plain": 415, ";": 415,
	} {
		w := ask(h, "POST", "/v1/transfer", "{}", "Content-Type", kind)
		if w.Code != status {
			t.Errorf("%q is %d %s, not %d", kind, w.Code, w.Body, status)
		}
	}
}

// What a page in a browser could send is refused before anything else.
func TestBrowsers(t *testing.T) {
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7400}
	elsewhere := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 7400}
	for _, c := range []struct {
		local        net.Addr
		host, origin string
		status       int
	}{
		{loopback, "127.0.0.1:7400", "", 200},
		{loopback, "localhost:7400", "", 200},
		{loopback, "LOCALHOST", "", 200},
		{loopback, "a.localhost:7400", "", 200},
		{loopback, "[::1]:7400", "", 200},
		{loopback, "[::1]", "", 200},
		{loopback, "n1:7400", "", 200},
		{loopback, "n1.example.org:7400", "", 200},
		{loopback, "N1.Example.org", "", 200},
		{loopback, "n2.example.org:7400", "", 403},
		{loopback, "evil.example:7400", "", 403},
		{loopback, "evil.example.:7400", "", 403},
		{loopback, "127.0.0.1.evil.example", "", 403},
		{elsewhere, "n2.example.org:7400", "", 200},
		{nil, "n2.example.org:7400", "", 200},
		{loopback, "127.0.0.1:7400", "http://127.0.0.1:7400", 403},
		{elsewhere, "10.0.0.1:7400", "http://evil.example", 403},
		{loopback, "127.0.0.1:7400", "null", 403},
	} {
		f := newFake()
		r := httptest.NewRequest("POST", "/v1/transfer", strings.NewReader(`{"id":"n2"}`))
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if c.local != nil {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, c.local))
		}
		w := httptest.NewRecorder()
		NewHandler(Config{Backend: f, Hosts: []string{"n1.example.org"}}).ServeHTTP(w, r)
		if w.Code != c.status || f.calls != 0 != (c.status == 200) {
			t.Errorf("%+v is %d %s", c, w.Code, w.Body)
		}
	}
}
