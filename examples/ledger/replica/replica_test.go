package replica_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/tenure/examples/ledger/replica"
)

// The goal: any replica takes a request, the tenant's owner does it, and a retry
// at another replica is the same entry.
func TestAnyReplicaTakesARequest(t *testing.T) {
	g := newGroup(t, 10*time.Second)
	for _, tenant := range replica.Tenants(groupTenants) {
		first := g.append(0, tenant, "a")
		for i := range g.peers {
			if again := g.append(i, tenant, "a"); again != first {
				t.Errorf("%s: retried at %s: %+v, want %+v", tenant, g.peers[i].ID, again, first)
			}
		}
		second := g.append(1, tenant, "b")
		if first.Seq != 1 || second.Seq != 2 {
			t.Errorf("%s: %+v and %+v, want seq 1 and 2", tenant, first, second)
		}
		reading := g.read(2, tenant)
		if len(reading.Entries) != 2 || reading.Entries[1].ID != "b" || reading.Replica != second.Replica {
			t.Errorf("%s: read %+v", tenant, reading)
		}
	}
	forwarded, handedOver := int64(0), int64(0)
	for _, r := range g.replicas {
		s := r.Status()
		forwarded, handedOver = forwarded+s.Forwarded, handedOver+s.Handovers
		if s.Serving == 0 || s.Acknowledged == 0 {
			t.Errorf("%s has no share: %+v", s.Replica, s)
		}
	}
	if want := int64(groupTenants * 6 * 2 / 3); forwarded < want/2 || forwarded > want*2 {
		t.Errorf("%d requests were passed on, want about %d", forwarded, want)
	}
}

func TestBadRequests(t *testing.T) {
	g := newGroup(t, 10*time.Second)
	g.append(0, "tenant-001", "a")
	const entries = "/tenants/tenant-001/entries"
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", entries, ``, 400, "body"},
		{"POST", entries, `{"id":"x","text":"y","more":1}`, 400, `unknown field`},
		{"POST", entries, `{"id":"x","text":"y"} {}`, 400, "two values"},
		{"POST", entries, `{"id":"","text":"y"}`, 400, `invalid id`},
		{"POST", entries, `{"id":"x","text":"` + strings.Repeat("y", 64*1024+1) + `"}`, 400, "invalid text"},
		{"POST", entries, `{"id":"x","text":"` + strings.Repeat("y", 1<<20) + `"}`, 400, "invalid body"},
		{"POST", entries, `{"id":"a","text":"another text"}`, 409, "conflict"},
		{"POST", "/tenants/tenant-999/entries", `{"id":"x","text":"y"}`, 404, "unknown_tenant"},
		{"GET", "/tenants/nobody/entries", ``, 404, "unknown_tenant"},
		{"POST", "/handover", `{"to":"r9","tenants":["tenant-001"]}`, 400, "invalid to"},
	} {
		for i := range g.peers {
			status, body := g.call(i, c.method, c.path, c.body)
			if status != c.status || !strings.Contains(body, c.want) {
				t.Errorf("%s %s %.40s at %s: %d %.200s; want %d and %q", c.method, c.path, c.body, g.peers[i].ID, status, body, c.status, c.want)
			}
		}
	}
	if reading := g.read(0, "tenant-001"); len(reading.Entries) != 1 {
		t.Errorf("bad requests left %+v", reading.Entries)
	}
}

// The goal: a request goes one hop at most.
func TestForwardedRequestIsNotPassedOn(t *testing.T) {
	g := newGroup(t, 10*time.Second)
	owner := g.append(0, "tenant-001", "a").Replica
	for i, p := range g.peers {
		status, body := g.call(i, "GET", "/tenants/tenant-001/entries", "", "Ledger-Forwarded-By: r0")
		if want := map[bool]int{true: 200, false: 421}[p.ID == owner]; status != want {
			t.Errorf("%s, where %s owns the tenant: %d %s, want %d", p.ID, owner, status, body, want)
		}
	}
}

// The goal: a replica that leaves hands its tenants over, one that comes back
// gets them again, and neither waits for a TTL.
func TestLeaveAndJoin(t *testing.T) {
	g := newGroup(t, 60*time.Second)
	before := g.replicas[0].Status().Tenants
	for _, tenant := range replica.Tenants(groupTenants) {
		g.append(0, tenant, "a")
	}
	g.close(2)
	g.await("two replicas serve all tenants", func() bool { return g.settled(2) })
	for _, id := range []string{"r1", "r2"} {
		for _, tenant := range before[id] {
			if owner := g.append(0, tenant, "b").Replica; owner != id {
				t.Errorf("%s moved from %s to %s although only r3 left", tenant, id, owner)
			}
		}
	}
	for _, tenant := range before["r3"] {
		if ack := g.append(0, tenant, "a"); ack.Seq != 1 || ack.Replica == "r3" {
			t.Errorf("%s after r3 has left: %+v", tenant, ack)
		}
	}
	g.open(2)
	g.await("r3 has its tenants again", func() bool {
		return g.settled(3) && g.replicas[2].Status().Serving == len(before["r3"])
	})
	for _, tenant := range before["r3"] {
		if reading := g.read(0, tenant); reading.Replica != "r3" || len(reading.Entries) != 1 {
			t.Errorf("%s after r3 has come back: %+v", tenant, reading)
		}
	}
}

// The goal: a deleted ledger stays deleted, also for later owners, and its files
// go.
func TestDelete(t *testing.T) {
	g := newGroup(t, 60*time.Second)
	ack := g.append(0, "tenant-001", "a")
	status, body := g.call(1, "DELETE", "/tenants/tenant-001/entries", "")
	if want := fmt.Sprintf(`{"forgotten_at_epoch":%d}`, ack.Epoch); status != http.StatusOK || body != want {
		t.Fatalf("delete: %d %s, want %s", status, body, want)
	}
	if reading := g.read(2, "tenant-001"); len(reading.Entries) != 0 || reading.Epoch <= ack.Epoch {
		t.Errorf("read %+v after the delete", reading)
	}
	if again := g.append(0, "tenant-001", "a"); again.Seq != 1 || again.Epoch <= ack.Epoch {
		t.Errorf("appended %+v after the delete", again)
	}
	files, err := os.ReadDir(filepath.Join(g.dir, "ledgers", "tenant-001"))
	if err != nil || len(files) != 2 {
		t.Errorf("the folder holds %v, %v; want one copy and one seal", files, err)
	}
}

// The goal: a replica that has no cluster yet refuses for now, within its time.
func TestUnavailableSaysWhenToTryAgain(t *testing.T) {
	g := prepareGroup(t, 10*time.Second)
	g.open(0)
	req, err := http.NewRequest("GET", "http://"+g.peers[0].HTTP+"/tenants/tenant-001/entries", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := g.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") != "1" || !bytes.Contains(body, []byte("no replica owns the tenant")) {
		t.Errorf("%s, Retry-After %q: %s %v", res.Status, res.Header.Get("Retry-After"), body, err)
	}
	if s := g.replicas[0].Status(); s.Ready || s.Refused != 1 || s.Serving != 0 {
		t.Errorf("status %+v", s)
	}
}

func TestBadConfig(t *testing.T) {
	good := replica.Config{ID: "r1", Peers: []replica.Peer{{ID: "r1", Node: "127.0.0.1:1", HTTP: "127.0.0.1:0"}}, Data: t.TempDir(), Ledgers: "ledgers", Tenants: 1}
	for want, change := range map[string]func(*replica.Config){
		`invalid id "r2"`:    func(c *replica.Config) { c.ID = "r2" },
		"invalid tenants 0":  func(c *replica.Config) { c.Tenants = 0 },
		"invalid ledgers":    func(c *replica.Config) { c.Ledgers = "" },
		"invalid ttl 1ms":    func(c *replica.Config) { c.TTL = time.Millisecond },
		"invalid margin":     func(c *replica.Config) { c.Margin = -1 },
		"invalid dir":        func(c *replica.Config) { c.Data = "" },
		"listen for the API": func(c *replica.Config) { c.HTTP = "127.0.0.1:99999" },
	} {
		cfg := good
		cfg.Listen = "127.0.0.1:0"
		change(&cfg)
		if _, err := replica.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
