package node_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The HTTP API is on the same port, and any node answers.
func TestHTTPOnAnyNode(t *testing.T) {
	c := newCluster(t, 3)
	follower := c.others(c.leader())[0]
	base := "http://" + follower.Addr()
	post := func(path, body string) (int, string) {
		resp, err := http.Post(base+path, "application/json", bytes.NewBufferString(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	for _, step := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"/v1/acquire", `{"key":"t1","owner":"a","request_id":"1","ttl_ms":60000}`, 200, `"epoch":1`},
		{"/v1/acquire", `{"key":"t1","owner":"b","request_id":"1","ttl_ms":60000}`, 409, `"error":"held"`},
		{"/v1/renew", `{"owner":"a","ttl_ms":60000,"tenures":[{"key":"t1","epoch":1},{"key":"t2","epoch":9}]}`, 200, `"error":"lost"`},
		{"/v1/forget", `{"key":"t1","owner":"a","epoch":1}`, 200, `"forgotten_at_epoch":1`},
		{"/v1/release", `{"owner":"a","tenures":[{"key":"t1","epoch":1}]}`, 200, `"held":false`},
		{"/v1/acquire", `{"key":"","owner":"a","request_id":"1","ttl_ms":60000}`, 400, `512`},
	} {
		if status, text := post(step.path, step.body); status != step.status || !strings.Contains(text, step.says) {
			t.Errorf("POST %s %s: %d %s, want %d with %s", step.path, step.body, status, text, step.status, step.says)
		}
	}
	client := &http.Client{Timeout: 10 * time.Second}
	for path, says := range map[string]string{"/v1/leases/t1": `"held":false`, "/v1/status": `"leader":"n`, "/v1/members": "n3", "/healthz": "", "/readyz": ""} {
		resp, err := client.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 || !strings.Contains(string(text), says) {
			t.Errorf("GET %s: %d %s, want 200 with %s", path, resp.StatusCode, text, says)
		}
	}
}
