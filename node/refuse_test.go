package node_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/node"
)

func TestMalformedConfigIsRefused(t *testing.T) {
	good := func() node.Config {
		return node.Config{ID: "n1", Listen: "127.0.0.1:0", Storage: node.MemoryStorage(),
			Peers: []node.Peer{{ID: "n1", Addr: "127.0.0.1:7400"}, {ID: "n2", Addr: "127.0.0.1:7401"}}}
	}
	tests := []struct {
		name   string
		change func(*node.Config)
		field  string
		says   string
	}{
		{"no id", func(c *node.Config) { c.ID = "" }, "id", "1 to 64"},
		{"id with a slash", func(c *node.Config) { c.ID = "a/b" }, "id", "a/b"},
		{"long id", func(c *node.Config) { c.ID = strings.Repeat("x", 65) }, "id", "64"},
		{"no listen", func(c *node.Config) { c.Listen = "" }, "listen", "HOST:PORT"},
		{"advertise nothing one can reach", func(c *node.Config) { c.Advertise = "0.0.0.0:7400" }, "advertise", "0.0.0.0:7400"},
		{"no data", func(c *node.Config) { c.Storage = nil }, "dir", "folder"},
		{"neither peers nor join", func(c *node.Config) { c.Peers = nil }, "peers", "join"},
		{"peers and join", func(c *node.Config) { c.Join = "127.0.0.1:1" }, "join", "either"},
		{"nonvoter without join", func(c *node.Config) { c.Nonvoter = true }, "nonvoter", "join"},
		{"itself not listed", func(c *node.Config) { c.Peers = c.Peers[1:] }, "peers", "n1"},
		{"one id twice", func(c *node.Config) { c.Peers[1].ID = "n1" }, "peers", "repeated"},
		{"one address twice", func(c *node.Config) { c.Peers[1].Addr = c.Peers[0].Addr }, "peers", "repeated"},
		{"peer without a port", func(c *node.Config) { c.Peers[1].Addr = "localhost" }, "peers", "HOST:PORT"},
		{"largest TTL too long", func(c *node.Config) { c.LargestTTL = 25 * time.Hour }, "largest_ttl", "24h"},
		{"largest TTL negative", func(c *node.Config) { c.LargestTTL = -1 }, "largest_ttl", "100ms"},
		{"election timeout too short", func(c *node.Config) { c.ElectionTimeout = time.Millisecond }, "election_timeout", "50ms"},
		{"disk timeout too short", func(c *node.Config) { c.DiskTimeout = time.Millisecond }, "disk_timeout", "1s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg := good()
			test.change(&cfg)
			n, err := node.Open(context.Background(), cfg)
			if err == nil {
				n.Close()
			}
			var invalid *tenure.InvalidError
			if !errors.As(err, &invalid) || invalid.Field != test.field || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want an invalid %s that says %q", err, test.field, test.says)
			}
		})
	}
}

func TestInvalidCommandsAreRefusedAndSpoilNothing(t *testing.T) {
	c := newCluster(t, 1)
	ctx := within(t, 20*time.Second)
	n := c.leader()
	before := n.Status()
	ask := func(key, owner, id string, ttl, wait time.Duration) error {
		_, err := acquire(ctx, n, key, owner, id, ttl, wait)
		return err
	}
	for name, test := range map[string]struct {
		err   error
		field string
	}{
		"empty key":           {ask("", "o", "1", time.Second, 0), "key"},
		"long key":            {ask(strings.Repeat("k", 513), "o", "1", time.Second, 0), "key"},
		"key not UTF-8":       {ask("\xff", "o", "1", time.Second, 0), "key"},
		"key with a newline":  {ask("a\nb", "o", "1", time.Second, 0), "key"},
		"empty owner":         {ask("k", "", "1", time.Second, 0), "owner"},
		"long owner":          {ask("k", strings.Repeat("o", 257), "1", time.Second, 0), "owner"},
		"empty request id":    {ask("k", "o", "", time.Second, 0), "request_id"},
		"TTL 0":               {ask("k", "o", "1", 0, 0), "ttl"},
		"negative TTL":        {ask("k", "o", "1", -time.Second, 0), "ttl"},
		"TTL too small":       {ask("k", "o", "1", 99*time.Millisecond, 0), "ttl"},
		"TTL with a fraction": {ask("k", "o", "1", time.Second+time.Microsecond, 0), "ttl"},
		"TTL above largest":   {ask("k", "o", "1", time.Hour+time.Millisecond, 0), "ttl"},
		"TTL overflowing":     {ask("k", "o", "1", 1<<62, 0), "ttl"},
		"negative wait":       {ask("k", "o", "1", time.Second, -1), "wait"},
		"wait too long":       {ask("k", "o", "1", time.Second, 25*time.Hour), "wait"},
		"epoch 0 renewed":     {second(renew(ctx, n, "k", "o", 0, time.Second)), "epoch"},
		"epoch 0 released":    {release(ctx, n, "k", "o", 0), "epoch"},
	} {
		var invalid *tenure.InvalidError
		if !errors.As(test.err, &invalid) || invalid.Field != test.field {
			t.Errorf("%s: %v, want invalid %s", name, test.err, test.field)
		}
	}
	if after := n.Status(); after.Checksum != before.Checksum {
		t.Error("refused commands changed the state")
	}
	results := n.Acquire(ctx, tenure.AcquireRequest{Owner: "o", Asks: []tenure.Ask{
		{Key: "good", RequestID: "1", TTL: time.Second}, {Key: "", RequestID: "1", TTL: time.Second}, {Key: "too", RequestID: "1", TTL: time.Second}}})
	if results[0].Err != nil || !errors.Is(results[1].Err, tenure.ErrInvalid) || results[2].Err != nil {
		t.Errorf("a batch with one invalid key got %+v", results)
	}
}

// A release that also forgets is refused whole, by a node and by a client: an
// ending that names its tenure twice forgets nothing.
func TestInvalidReleaseDoesNotForget(t *testing.T) {
	c := newCluster(t, 1)
	ctx := within(t, 20*time.Second)
	n := c.leader()
	client, err := node.Dial(node.ClientConfig{Addrs: []string{n.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	g, err := acquire(ctx, n, "k", "o", "1", time.Minute, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]tenure.Store{"node": n, "client": client} {
		r := s.Release(ctx, tenure.ReleaseRequest{Owner: "o", Forget: true, Endings: []tenure.Ending{{Key: "k", Epoch: g.Record.Epoch, RequestID: "1"}}})[0]
		var invalid *tenure.InvalidError
		if !errors.As(r.Err, &invalid) || invalid.Field != "request_id" || invalid.Key != "k" {
			t.Errorf("%s: %+v, want an invalid request_id", name, r)
		}
	}
	if v, err := n.Get(ctx, "k"); err != nil || v.Record != g.Record {
		t.Errorf("the key is %+v, %v; it was %+v", v, err, g.Record)
	}
}

func second[T any](_ T, err error) error { return err }

func TestAnotherNodesDataIsRefused(t *testing.T) {
	c := newCluster(t, 1)
	c.nodes["n1"].Close()
	cfg := c.config("n1")
	cfg.ID, cfg.Peers = "n2", []node.Peer{{ID: "n2", Addr: cfg.Listen}}
	_, err := node.Open(context.Background(), cfg)
	if err == nil || !strings.Contains(err.Error(), `"n1"`) || !strings.Contains(err.Error(), `"n2"`) {
		t.Errorf("opening the data of n1 as n2: %v", err)
	}
	if _, err := node.Open(context.Background(), c.config("n1")); err != nil {
		t.Errorf("its own node can't open it any more: %v", err)
	}
}

func TestBusyPortAndBusyFolderAreRefused(t *testing.T) {
	c := newCluster(t, 1)
	cfg := c.config("n1")
	cfg.Dir = t.TempDir()
	if _, err := node.Open(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), cfg.Listen) {
		t.Errorf("on a busy port: %v, want an error with %s", err, cfg.Listen)
	}
	cfg = c.config("n1")
	cfg.Listen = "127.0.0.1:0"
	if _, err := node.Open(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), cfg.Dir) {
		t.Errorf("in a busy folder: %v, want an error with %s", err, cfg.Dir)
	}
}

// A bolt file that was cut short, or in which bytes changed, is refused, and
// left as it is.
func TestDamagedDataIsRefused(t *testing.T) {
	c := newCluster(t, 1)
	ctx := within(t, 20*time.Second)
	for _, key := range []string{"a", "b", "c"} {
		if _, err := acquire(ctx, c.leader(), key, "o", "1", time.Minute, 0); err != nil {
			t.Fatal(err)
		}
	}
	c.nodes["n1"].Close()
	files, err := filepath.Glob(filepath.Join(c.dirs["n1"], "*.db"))
	if err != nil || len(files) != 1 {
		files, _ = filepath.Glob(filepath.Join(c.dirs["n1"], "*"))
		t.Fatalf("the data folder has %v", files)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	torn := bytes.Clone(whole)
	for i := len(torn) / 2; i < len(torn)/2+4096 && i < len(torn); i++ {
		torn[i] = 0xa5
	}
	for name, data := range map[string][]byte{
		"empty": {}, "a quarter": whole[:len(whole)/4], "three quarters": whole[:3*len(whole)/4], "its last byte cut off": whole[:len(whole)-1],
		"not bolt": bytes.Repeat([]byte("x"), len(whole)),
	} {
		if err := os.WriteFile(files[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := node.Open(ctx, c.config("n1"))
		if err == nil { // what was cut off held nothing: then all must be there
			for _, key := range []string{"a", "b", "c"} {
				if v, err := n.Get(ctx, key); err != nil || !v.Record.Held {
					t.Errorf("%s: opened, and %s is %+v, %v", name, key, v, err)
				}
			}
			n.Close()
			continue
		}
		if !strings.Contains(err.Error(), files[0]) {
			t.Errorf("%s: %v, want an error that names %s", name, err, files[0])
		}
		if after, _ := os.ReadFile(files[0]); !bytes.Equal(after, data) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	if err := os.WriteFile(files[0], whole, 0o600); err != nil {
		t.Fatal(err)
	}
	c.open("n1")
	c.ready()
}

// A node under a known id whose folder was wiped neither votes nor serves until
// it was removed and joined anew.
func TestWipedFolderHasToJoinAnew(t *testing.T) {
	c := newCluster(t, 3)
	ctx := within(t, 60*time.Second)
	leader := c.leader()
	wiped := c.others(leader)[0]
	id := wiped.Status().ID
	wiped.Close()
	delete(c.nodes, id)
	c.dirs[id] = t.TempDir()
	wiped = c.open(id)
	if g, err := acquire(ctx, leader, "k", "o", "1", time.Minute, 0); err != nil {
		t.Fatalf("two of three: %+v, %v", g, err)
	}
	time.Sleep(time.Second) // long enough for several tries to take part
	if s := wiped.Status(); s.Role != tenure.RoleFounding || s.ClusterID != "" {
		t.Errorf("the wiped node is %+v", s)
	}
	wiped.Close()
	if err := leader.Remove(ctx, id); err != nil {
		t.Fatal(err)
	}
	c.change = func(cfg *node.Config) {
		if cfg.ID == id {
			cfg.Peers, cfg.Join = nil, leader.Addr()
		}
	}
	c.open(id)
	c.ready()
	for len(voters(t, leader)) != 3 {
		time.Sleep(10 * time.Millisecond)
	}
}

// A node of another cluster is refused, and stays one of its own.
func TestOtherClusterIsRefused(t *testing.T) {
	one, two := newCluster(t, 1), newCluster(t, 1)
	err := one.leader().Join(within(t, 10*time.Second), "n1", two.peers[0].Addr, false)
	if err == nil {
		t.Fatal("a node of another cluster was let in")
	}
	one.ready()
	two.ready()
}
