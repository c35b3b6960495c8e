package port

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/tenure/node/internal/wire"
	"example.com/tenure/node/internal/wire/wiretest"
)

// A member is a node as far as Raft goes: a port, a transport, stores in memory
// that outlive a stop, and a state machine that remembers entries.
type member struct {
	id        string
	cluster   *cluster
	logs      *raft.InmemStore
	stable    *raft.InmemStore
	snapshots *raft.InmemSnapshotStore
	machine   *machine

	port      *Port
	transport *Transport
	raft      atomic.Pointer[raft.Raft]
	silenced  atomic.Bool
}

// A cluster is a few members on a network in memory.
type cluster struct {
	t       *testing.T
	net     *wiretest.Net
	members map[string]*member
}

func serverID(id string) raft.ServerID { return raft.ServerID(id + "/i-" + id) }

func addrOf(id string) string { return id + ":7400" }

// newCluster founds a cluster of members n1, n2 and so on.
func newCluster(t *testing.T, n int) *cluster {
	c := &cluster{t: t, net: wiretest.NewNet(), members: make(map[string]*member)}
	var founding raft.Configuration
	for i := range n {
		id := fmt.Sprintf("n%d", i+1)
		c.members[id] = &member{
			id: id, cluster: c,
			logs: raft.NewInmemStore(), stable: raft.NewInmemStore(), snapshots: raft.NewInmemSnapshotStore(),
		}
		founding.Servers = append(founding.Servers, raft.Server{ID: serverID(id), Address: raft.ServerAddress(addrOf(id))})
	}
	for _, m := range c.members {
		m.start()
		if err := m.raft.Load().BootstrapCluster(founding).Error(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, m := range c.members {
			m.stop()
		}
	})
	return c
}

func (m *member) start() {
	var err error
	m.machine = &machine{} // Raft applies the log anew
	m.port, err = Open(Config{Network: m.cluster.net.Host(m.id), Listen: addrOf(m.id), Self: self(m.id), Serve: echo})
	if err != nil {
		m.cluster.t.Fatal(err)
	}
	m.transport = m.port.NewTransport(TransportConfig{
		Timeout:  time.Second,
		Expect:   expect,
		Silenced: m.silenced.Load,
		CheckEntries: func(entries []*raft.Log) error {
			for _, entry := range entries {
				if string(entry.Data) == "bad" {
					return fmt.Errorf("entry %d is bad", entry.Index)
				}
			}
			return nil
		},
		Applied: func() (uint64, bool) {
			r := m.raft.Load()
			if r == nil {
				return 0, false
			}
			return r.AppliedIndex(), true
		},
		SnapshotPatience: time.Second,
		SnapshotOutdated: m.takeSnapshot,
	})
	config := raft.DefaultConfig()
	config.LocalID = serverID(m.id)
	config.HeartbeatTimeout, config.ElectionTimeout, config.LeaderLeaseTimeout = 500*time.Millisecond, 500*time.Millisecond, 250*time.Millisecond
	config.TrailingLogs = 1 // a snapshot is needed soon
	config.Logger = hclog.NewNullLogger()
	r, err := raft.NewRaft(config, m.machine, m.logs, m.stable, m.snapshots, m.transport)
	if err != nil {
		m.cluster.t.Fatal(err)
	}
	m.raft.Store(r)
}

// takeSnapshot has the member commit an entry and take a snapshot.
func (m *member) takeSnapshot() {
	r := m.raft.Load()
	barrier := r.Barrier(time.Second)
	go func() {
		if barrier.Error() == nil {
			_ = r.Snapshot().Error()
		}
	}()
}

func expect(addr raft.ServerAddress) (id, incarnation string) {
	id, _, _ = strings.Cut(string(addr), ":")
	return id, "i-" + id
}

func (m *member) stop() {
	r := m.raft.Swap(nil)
	if r == nil {
		return
	}
	stopped := r.Shutdown()
	_ = m.port.Close()
	if err := stopped.Error(); err != nil {
		m.cluster.t.Error(err)
	}
	_ = m.transport.Close()
}

// leader waits until one of the members leads, all that run agree, and it is
// none of the given ones.
func (c *cluster) leader(except ...*member) *member {
	c.t.Helper()
	for range 1000 {
		for _, m := range c.members {
			if r := m.raft.Load(); r != nil && !contains(except, m) && r.State() == raft.Leader && r.VerifyLeader().Error() == nil {
				return m
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.t.Fatal("no leader")
	return nil
}

func contains(all []*member, m *member) bool {
	for _, one := range all {
		if one == m {
			return true
		}
	}
	return false
}

func (c *cluster) others(than *member) []*member {
	var others []*member
	for _, m := range c.members {
		if m != than {
			others = append(others, m)
		}
	}
	return others
}

// settle waits until the members that run have applied the same entries, so
// many of them.
func (c *cluster) settle(entries int) {
	c.t.Helper()
	for range 1000 {
		done := true
		for _, m := range c.members {
			done = done && (m.raft.Load() == nil || m.machine.len() == entries)
		}
		if done {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, m := range c.members {
		c.t.Errorf("%s has applied %d entries, want %d", m.id, m.machine.len(), entries)
	}
	c.t.FailNow()
}

func (m *member) apply(data string) {
	m.cluster.t.Helper()
	if err := m.raft.Load().Apply([]byte(data), time.Second).Error(); err != nil {
		m.cluster.t.Fatal(err)
	}
}

// A machine is a raft.FSM that remembers what was applied.
type machine struct {
	mu      sync.Mutex
	entries []string
}

func (f *machine) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.entries)
}

func (f *machine) Apply(entry *raft.Log) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.entries = append(f.entries, string(entry.Data))
	return nil
}

func (f *machine) Snapshot() (raft.FSMSnapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return image(strings.Join(f.entries, "\n")), nil
}

func (f *machine) Restore(from io.ReadCloser) error {
	all, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.entries = strings.Split(string(all), "\n")
	return nil
}

// An image is a snapshot of a machine.
type image string

func (s image) Persist(sink raft.SnapshotSink) error {
	if _, err := io.WriteString(sink, string(s)); err != nil {
		return err
	}
	return sink.Close()
}

func (image) Release() {}

// peer returns a stream to a member in the name of another one.
func (c *cluster) peer(from, to string) *wiretest.Conn {
	c.t.Helper()
	h := hello(from)
	h.Purpose, h.Addr = wire.PurposeRaft, addrOf(from)
	nc, _, err := greeted(c.net.Host(from), addrOf(to), h)
	if err != nil {
		c.t.Fatal(err)
	}
	return nc.(*wiretest.Conn)
}
