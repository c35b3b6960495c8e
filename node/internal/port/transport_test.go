package port

import (
	"bufio"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure/node/internal/wire"
)

// Two nodes elect a leader over the port, replicate, survive a cut, and leave
// nothing behind.
func TestTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		leader := c.leader()
		leader.apply("one")
		c.settle(1)
		c.net.Cut("n1", "n2")
		time.Sleep(time.Minute)
		if leader.raft.Load().State() == raft.Leader {
			t.Error("it leads without a quorum")
		}
		c.net.Heal("n1", "n2")
		c.leader().apply("two")
		c.settle(2)
	})
}

// Raft has what it looks for by type assertion, and what must not be used is
// not there.
func TestTransportShape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		var transport raft.Transport = c.members["n1"].transport
		if _, ok := transport.(raft.WithPreVote); !ok {
			t.Error("no pre-votes")
		}
		if _, ok := transport.(raft.WithClose); !ok {
			t.Error("no Close")
		}
		if _, err := transport.AppendEntriesPipeline("n2/i-n2", "n2:7400"); !errors.Is(err, raft.ErrPipelineReplicationNotSupported) {
			t.Errorf("a pipeline: %v", err)
		}
		if got := transport.LocalAddr(); got != "n1:7400" {
			t.Errorf("local address %s", got)
		}
	})
}

// A heartbeat takes the way of every request, although Raft asked for a short
// cut.
func TestHeartbeatsTakeNoShortCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		m := &member{id: "n2", cluster: c}
		c.members["n1"].silenced.Store(true)
		var err error
		if m.port, err = Open(Config{Network: c.net.Host("n2"), Listen: "n2:7400", Self: self("n2"), Serve: echo}); err != nil {
			t.Fatal(err)
		}
		defer m.port.Close()
		never := func() bool { return false }
		m.transport = m.port.NewTransport(TransportConfig{Expect: expect, Silenced: never,
			CheckEntries: func([]*raft.Log) error { return nil }, Applied: func() (uint64, bool) { return 0, false }})
		defer m.transport.Close()
		m.transport.SetHeartbeatHandler(func(raft.RPC) { t.Error("the short cut was taken") })
		go func() {
			rpc := <-m.transport.Consumer()
			rpc.Respond(&raft.AppendEntriesResponse{Term: 7, Success: true}, nil)
		}()
		c.members["n1"].silenced.Store(false)
		heartbeat := &raft.AppendEntriesRequest{RPCHeader: raft.RPCHeader{ProtocolVersion: 3, ID: []byte("n1/i-n1"), Addr: []byte("n1:7400")}, Term: 7}
		var resp raft.AppendEntriesResponse
		if err := c.members["n1"].transport.AppendEntries("n2/i-n2", "n2:7400", heartbeat, &resp); err != nil || resp.Term != 7 {
			t.Errorf("got %+v, %v", resp, err)
		}
	})
}

// A leader that is silenced loses its leadership to the others, and follows
// them when it may speak again.
func TestSilencedLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3)
		former := c.leader()
		former.apply("one")
		former.silenced.Store(true)
		started := time.Now()
		leader := c.leader(former)
		if took := time.Since(started); took > 3*time.Second {
			t.Errorf("another leader after %v", took)
		}
		leader.apply("two")
		transport := former.transport
		for name, err := range map[string]error{
			"entries":  transport.AppendEntries("", "", nil, nil),
			"vote":     transport.RequestVote("", "", nil, nil),
			"pre-vote": transport.RequestPreVote("", "", nil, nil),
			"snapshot": transport.InstallSnapshot("", "", nil, nil, nil),
			"transfer": transport.TimeoutNow("", "", nil, nil),
		} {
			if !errors.Is(err, ErrSilenced) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		former.silenced.Store(false)
		c.settle(2)
	})
}

// A node answers at the address of another one: Raft is not given the stream.
func TestDialTheWrongNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		moved, err := Open(Config{Network: c.net.Host("n3"), Listen: "n2:7400", Self: self("n3"), Serve: echo})
		if err != nil {
			t.Fatal(err)
		}
		defer moved.Close()
		defer moved.NewTransport(TransportConfig{}).Close()
		var resp raft.AppendEntriesResponse
		err = c.members["n1"].transport.AppendEntries("n2/i-n2", "n2:7400", &raft.AppendEntriesRequest{Term: 1}, &resp)
		var refused *wire.Refused
		if !errors.As(err, &refused) || refused.Code != wire.CodeOtherNode || !strings.Contains(err.Error(), "n2:7400") {
			t.Errorf("got %v", err)
		}
	})
}

// Closing the transport closes its streams, both ways, and leaves the port open
// for a next one.
func TestCloseTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		leader := c.leader()
		m := c.others(leader)[0]
		accepted := c.peer(leader.id, m.id)
		defer accepted.Close()
		dialled, err := m.transport.streams.Dial(raft.ServerAddress(addrOf(leader.id)), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := m.transport.Close(); err != nil {
			t.Fatal(err)
		}
		for name, nc := range map[string]net.Conn{"accepted": accepted, "dialled": dialled} {
			_ = nc.SetReadDeadline(time.Now().Add(time.Second))
			if _, err := nc.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: still open", name)
			}
		}
		if _, err := m.transport.streams.Dial(raft.ServerAddress(addrOf(leader.id)), time.Second); err == nil {
			t.Error("it still dials")
		}
		call(t, c.net.Host(leader.id), addrOf(m.id))
		m.port.NewTransport(TransportConfig{}).Close()
	})
}

// Votes are asked for over idle connections. When the peer was restarted
// meanwhile all of those are broken, and yet the vote arrives.
func TestVoteAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		leader := c.leader()
		voter := c.others(leader)[0]
		leader.apply("one")
		var asked []error
		ask := func() {
			var resp raft.RequestPreVoteResponse
			header := raft.RPCHeader{ProtocolVersion: 3, ID: []byte(serverID(leader.id)), Addr: []byte(addrOf(leader.id))}
			asked = append(asked, leader.transport.RequestPreVote(serverID(voter.id), raft.ServerAddress(addrOf(voter.id)),
				&raft.RequestPreVoteRequest{RPCHeader: header, Term: 1}, &resp))
		}
		ask()
		voter.stop()
		voter.start()
		ask()
		for i, err := range asked {
			if err != nil {
				t.Errorf("request %d: %v", i, err)
			}
		}
	})
}

// Raft's messages to a member that is down fail without a second try.
func TestVoteOfANodeThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		leader := c.leader()
		voter := c.others(leader)[0]
		voter.stop()
		var resp raft.RequestVoteResponse
		for range maxPool {
			_ = leader.transport.RequestVote(serverID(voter.id), raft.ServerAddress(addrOf(voter.id)), &raft.RequestVoteRequest{Term: 1}, &resp)
		}
		started := time.Now()
		err := leader.transport.RequestVote(serverID(voter.id), raft.ServerAddress(addrOf(voter.id)), &raft.RequestVoteRequest{Term: 1}, &resp)
		var undialled *dialError
		if !errors.As(err, &undialled) || time.Since(started) > 0 {
			t.Errorf("after %v: %v", time.Since(started), err)
		}
	})
}

// A leader that vanishes in the middle of a snapshot keeps the follower busy
// for no longer than the patience with it.
func TestStalledSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		c.leader().apply("one")
		c.settle(1)
		victim, other := c.members["n1"], c.members["n2"]
		other.stop() // its place is taken by a sender that stalls
		time.Sleep(3 * time.Second)
		nc := c.peer("n2", "n1")
		defer nc.Close()
		term := victim.raft.Load().CurrentTerm() + 1
		send(t, nc, rpcInstallSnapshot, &raft.InstallSnapshotRequest{
			RPCHeader: header("n2"), SnapshotVersion: 1, Term: term, LastLogIndex: 1000, LastLogTerm: term,
			Configuration: configuration("n1", "n2"), Size: 1 << 20,
		})
		if _, err := nc.Write([]byte("the beginning")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		nc.Hold(true)
		started := time.Now()
		if err := victim.raft.Load().VerifyLeader().Error(); err == nil {
			t.Error("the node still leads")
		}
		if took := time.Since(started); took > 2*time.Second {
			t.Errorf("Raft's main loop was free after %v", took)
		}
		other.start()
		c.leader().apply("two")
		c.settle(2)
	})
}

// A follower got a snapshot and then one entry of a leader that died: the next
// leader's log and its own have nothing in common, and all that this leader can
// send is the snapshot which the follower has. It gets a newer one.
func TestNothingInCommon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3)
		former := c.leader()
		others := c.others(former)
		behind, other := others[0], others[1]
		behind.stop()
		for range 20 {
			former.apply("entry")
		}
		c.settle(20)
		for _, m := range []*member{former, other} {
			if err := m.raft.Load().Snapshot().Error(); err != nil {
				t.Fatal(err)
			}
		}
		behind.start()
		c.settle(20)
		last, term := behind.raft.Load().LastIndex(), former.raft.Load().CurrentTerm()
		former.stop()
		nc := c.peer(former.id, behind.id) // in the name of the leader that dies
		defer nc.Close()
		send(t, nc, rpcAppendEntries, &raft.AppendEntriesRequest{RPCHeader: header(former.id), Term: term, PrevLogEntry: last, PrevLogTerm: term,
			Entries: []*raft.Log{entry(last+1, term, raft.LogCommand, "dies with its leader")}})
		var resp raft.AppendEntriesResponse
		if complaint := answer(t, bufio.NewReader(nc), &resp); complaint != "" || !resp.Success {
			t.Fatalf("got %q, %+v", complaint, resp)
		}
		c.net.Cut(behind.id, other.id)
		c.net.Cut(behind.id, former.id)
		former.start()
		c.leader(behind).apply("goes on")
		c.net.Heal(behind.id, other.id)
		c.net.Heal(behind.id, former.id)
		c.settle(21)
	})
}
