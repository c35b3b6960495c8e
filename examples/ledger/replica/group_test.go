package replica_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/tenure/examples/ledger/fleet"
	"example.com/tenure/examples/ledger/replica"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A group is three replicas in this process.
type group struct {
	t        *testing.T
	dir      string
	peers    []replica.Peer
	replicas []*replica.Replica
	ttl      time.Duration
	http     http.Client
}

const groupTenants = 30

// newGroup starts a fleet and waits until it serves all tenants.
func newGroup(t *testing.T, ttl time.Duration) *group {
	t.Helper()
	g := prepareGroup(t, ttl)
	for i := range g.replicas {
		g.open(i)
	}
	g.await("all tenants are at home", func() bool { return g.settled(3) })
	return g
}

// prepareGroup returns a fleet of which nothing runs yet.
func prepareGroup(t *testing.T, ttl time.Duration) *group {
	t.Helper()
	peers, err := fleet.FreePeers(3)
	if err != nil {
		t.Fatal(err)
	}
	g := &group{t: t, dir: t.TempDir(), ttl: ttl, peers: peers, replicas: make([]*replica.Replica, len(peers))}
	g.http.Transport = &http.Transport{}
	t.Cleanup(g.http.CloseIdleConnections)
	t.Cleanup(g.end)
	return g
}

// end closes what runs, all at once. Without a majority the last ones can't
// release their leases, and needn't.
func (g *group) end() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var closing sync.WaitGroup
	for _, r := range g.replicas {
		if r != nil {
			closing.Go(func() { r.Close(ctx) })
		}
	}
	closing.Wait()
}

func (g *group) open(i int) {
	g.t.Helper()
	r, err := replica.Open(g.t.Context(), replica.Config{ID: g.peers[i].ID, Peers: g.peers, Data: filepath.Join(g.dir, g.peers[i].ID),
		Ledgers: filepath.Join(g.dir, "ledgers"), Tenants: groupTenants, TTL: g.ttl})
	if err != nil {
		g.t.Fatal(err)
	}
	g.replicas[i] = r
}

// close lets replica i leave.
func (g *group) close(i int) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := g.replicas[i].Close(ctx); err != nil {
		g.t.Errorf("close %s: %v", g.peers[i].ID, err)
	}
	g.replicas[i] = nil
}

// settled reports whether so many replicas see each other alive and serve all
// tenants, and none waits for one of another's.
func (g *group) settled(alive int) bool {
	served := 0
	for _, r := range g.replicas {
		if r == nil {
			continue
		}
		s := r.Status()
		if len(s.Alive) != alive || s.Waiting > 0 {
			return false
		}
		served += s.Serving
	}
	return served == groupTenants
}

func (g *group) await(what string, holds func() bool) {
	g.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			for _, r := range g.replicas {
				if r != nil {
					g.t.Logf("%+v", r.Status())
				}
			}
			g.t.Fatalf("half a minute without: %s", what)
		}
	}
}

// call makes a request to replica i and returns the status and the body.
func (g *group) call(i int, method, path, body string, headers ...string) (int, string) {
	g.t.Helper()
	req, err := http.NewRequest(method, "http://"+g.peers[i].HTTP+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := g.http.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return res.StatusCode, string(bytes.TrimSpace(data))
}

func (g *group) append(i int, tenant, id string) replica.Acknowledgement {
	g.t.Helper()
	status, body := g.call(i, "POST", "/tenants/"+tenant+"/entries", fmt.Sprintf(`{"id":%q,"text":"text of %s"}`, id, id))
	var ack replica.Acknowledgement
	if err := json.Unmarshal([]byte(body), &ack); status != http.StatusOK || err != nil {
		g.t.Fatalf("append %s to %s: %d %s", id, tenant, status, body)
	}
	return ack
}

func (g *group) read(i int, tenant string) replica.Reading {
	g.t.Helper()
	status, body := g.call(i, "GET", "/tenants/"+tenant+"/entries", "")
	var reading replica.Reading
	if err := json.Unmarshal([]byte(body), &reading); status != http.StatusOK || err != nil {
		g.t.Fatalf("read %s: %d %s", tenant, status, body)
	}
	return reading
}
