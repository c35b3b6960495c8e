package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/tenure"
)

// A cluster is some real Rafts with guarded stores, in virtual time. Each node is
// silent while its stores stall and once they have failed, as a node has to be;
// it goes on otherwise, until it is stopped, as it may for a while.
type cluster struct {
	t     *testing.T
	nodes []*clusterNode
}

type clusterNode struct {
	t       *testing.T
	id      string
	faults  *faults
	storage Storage
	trans   *silentTransport
	guard   *Guarded
	raft    *raft.Raft
	sm      *tally
	failed  chan error // one error, when the guard fails
	fails   atomic.Int32
}

func newCluster(t *testing.T, size int) *cluster {
	c := &cluster{t: t}
	for i := range size {
		f := &faults{}
		c.nodes = append(c.nodes, &clusterNode{t: t, id: fmt.Sprintf("n%d", i+1), faults: f, storage: faulty{Memory(), f}})
	}
	var servers []raft.Server
	for _, n := range c.nodes {
		n.open()
		servers = append(servers, raft.Server{ID: raft.ServerID(n.id), Address: raft.ServerAddress(n.id)})
	}
	for _, n := range c.nodes {
		s := n.guard.ForRaft()
		err := <-Go(func() {
			if err := raft.BootstrapCluster(n.config(), s.Log, s.Stable, s.Snapshots, n.trans, raft.Configuration{Servers: servers}); err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.start(); err != nil {
			t.Fatal(err)
		}
	}
	c.connect()
	return c
}

func (c *cluster) connect() {
	for _, n := range c.nodes {
		for _, m := range c.nodes {
			n.trans.Connect(raft.ServerAddress(m.id), m.trans.InmemTransport)
		}
	}
}

func (n *clusterNode) open() {
	stores, err := n.storage.Open(hclog.NewNullLogger())
	if err != nil {
		n.t.Fatal(err)
	}
	n.failed = make(chan error, 1)
	n.sm = &tally{}
	n.guard = Guard(stores, GuardConfig{
		Clock:      tenure.MonotonicClock(),
		CheckEntry: checkTestEntry,
		Fail: func(err error) {
			n.fails.Add(1)
			n.failed <- err
		},
		StallAfter: 500 * time.Millisecond,
		FailAfter:  20 * time.Second,
	})
	_, trans := raft.NewInmemTransportWithTimeout(raft.ServerAddress(n.id), 200*time.Millisecond)
	n.trans = &silentTransport{trans, n.guard}
}

// start checks the stores and starts Raft.
func (n *clusterNode) start() (err error) {
	if err := n.guard.Check(); err != nil {
		return err
	}
	s := n.guard.ForRaft()
	ended := <-Go(func() {
		n.raft, err = raft.NewRaft(n.config(), n.sm, s.Log, s.Stable, s.Snapshots, n.trans)
	})
	return errors.Join(ended, err)
}

func (n *clusterNode) config() *raft.Config {
	conf := raft.DefaultConfig()
	conf.LocalID = raft.ServerID(n.id)
	conf.HeartbeatTimeout = 500 * time.Millisecond
	conf.ElectionTimeout = 500 * time.Millisecond
	conf.LeaderLeaseTimeout = 250 * time.Millisecond
	conf.SnapshotInterval = time.Hour
	conf.TrailingLogs = 10
	conf.Logger = hclog.NewNullLogger()
	return conf
}

// stop shuts the node down; what hangs has to be freed before.
func (n *clusterNode) stop() {
	n.trans.DisconnectAll()
	if n.raft != nil {
		n.raft.Shutdown().Error()
		n.raft = nil
	}
	if err := n.guard.Close(); err != nil {
		n.t.Errorf("%s: Close: %v", n.id, err)
	}
}

func (c *cluster) stop() {
	for _, n := range c.nodes {
		n.stop()
	}
}

// leader waits for a leader among nodes that have not failed.
func (c *cluster) leader() *clusterNode {
	c.t.Helper()
	for range 200 {
		for _, n := range c.nodes {
			if n.raft != nil && n.raft.State() == raft.Leader && !n.guard.Stalled() && n.raft.VerifyLeader().Error() == nil {
				return n
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.t.Fatal("no leader within 10 s")
	return nil
}

func (c *cluster) follower() *clusterNode {
	leader := c.leader()
	for _, n := range c.nodes {
		if n != leader {
			return n
		}
	}
	return nil
}

// apply proposes a command and waits at most 5 s for the answer.
func (n *clusterNode) apply() error {
	future := n.raft.Apply(testEntry(n.sm.next.Add(1)), time.Second)
	answer := make(chan error, 1)
	go func() { answer <- future.Error() }()
	select {
	case err := <-answer:
		return err
	case <-time.After(5 * time.Second):
		return errors.New("no answer")
	}
}

// silentTransport sends nothing while the stores stall, and does not pipeline.
type silentTransport struct {
	*raft.InmemTransport
	guard *Guarded
}

var errSilent = errors.New("silent: the disk stalls")

func (t *silentTransport) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

func (t *silentTransport) AppendEntries(id raft.ServerID, to raft.ServerAddress, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if t.guard.Stalled() {
		return errSilent
	}
	return t.InmemTransport.AppendEntries(id, to, req, resp)
}

func (t *silentTransport) RequestVote(id raft.ServerID, to raft.ServerAddress, req *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	if t.guard.Stalled() {
		return errSilent
	}
	return t.InmemTransport.RequestVote(id, to, req, resp)
}

func (t *silentTransport) RequestPreVote(id raft.ServerID, to raft.ServerAddress, req *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	if t.guard.Stalled() {
		return errSilent
	}
	return t.InmemTransport.RequestPreVote(id, to, req, resp)
}

// testEntry is a command with a checksum of its own.
func testEntry(n int64) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(n))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func checkTestEntry(data []byte) error {
	if string(data) == "panic" {
		panic("this entry")
	}
	if len(data) != 12 || binary.BigEndian.Uint32(data[8:]) != crc32.ChecksumIEEE(data[:8]) {
		return errors.New("not a test entry")
	}
	return nil
}

// tally is a state machine that counts.
type tally struct {
	next atomic.Int64 // for proposals

	mu      sync.Mutex
	applied uint64
}

func (s *tally) count() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applied
}

func (s *tally) Apply(*raft.Log) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applied++
	return nil
}

func (s *tally) Snapshot() (raft.FSMSnapshot, error) { return tallySnapshot(s.count()), nil }

func (s *tally) Restore(source io.ReadCloser) error {
	b, err := io.ReadAll(source)
	if err != nil || len(b) != 8 {
		return errors.Join(err, fmt.Errorf("a snapshot of %d bytes", len(b)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applied = binary.BigEndian.Uint64(b)
	return nil
}

type tallySnapshot uint64

func (s tallySnapshot) Persist(sink raft.SnapshotSink) error {
	if _, err := sink.Write(binary.BigEndian.AppendUint64(nil, uint64(s))); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

func (s tallySnapshot) Release() {}

// What snapshots need that no Raft has made.
var (
	testConfiguration = raft.Configuration{Servers: []raft.Server{{ID: "n1", Address: "n1:7400"}}}
	nopTransport      = new(raft.InmemTransport)
)
