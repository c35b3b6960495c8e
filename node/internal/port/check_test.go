package port

import (
	"bufio"
	"bytes"
	"math"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-msgpack/v2/codec"
	"github.com/hashicorp/raft"
)

// The first byte of a request, as hashicorp/raft's net_transport.go has it.
const (
	rpcAppendEntries byte = iota
	rpcRequestVote
	rpcInstallSnapshot
	rpcTimeoutNow
	rpcRequestPreVote
)

func header(id string) raft.RPCHeader {
	return raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(serverID(id)), Addr: []byte(addrOf(id))}
}

// configuration returns an encoded configuration of voters.
func configuration(ids ...string) []byte {
	var c raft.Configuration
	for _, id := range ids {
		c.Servers = append(c.Servers, raft.Server{ID: serverID(id), Address: raft.ServerAddress(addrOf(id))})
	}
	return raft.EncodeConfiguration(c)
}

// encoded returns a request as it goes over a stream.
func encoded(kind byte, req any) []byte {
	out := bytes.NewBuffer([]byte{kind})
	if err := codec.NewEncoder(out, &codec.MsgpackHandle{}).Encode(req); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func send(t *testing.T, nc net.Conn, kind byte, req any) {
	t.Helper()
	if _, err := nc.Write(encoded(kind, req)); err != nil {
		t.Fatal(err)
	}
}

// answer reads the error of an answer, and the answer into resp.
func answer(t *testing.T, from *bufio.Reader, resp any) string {
	t.Helper()
	decoder := codec.NewDecoder(from, &codec.MsgpackHandle{})
	var text string
	if err := decoder.Decode(&text); err != nil {
		t.Fatal(err)
	}
	if err := decoder.Decode(resp); err != nil {
		t.Fatal(err)
	}
	return text
}

// entry returns an entry with a change.
func entry(index, term uint64, kind raft.LogType, data string) *raft.Log {
	return &raft.Log{Index: index, Term: term, Type: kind, Data: []byte(data)}
}

// Whatever a leader can't have sent is refused, and what it can is not.
func TestCheckAppend(t *testing.T) {
	transport := &Transport{config: TransportConfig{CheckEntries: func([]*raft.Log) error { return nil }}}
	good := string(configuration("n1", "n2"))
	tests := []struct {
		name      string
		prev      uint64
		prevTerm  uint64
		term      uint64
		entries   []*raft.Log
		complaint string
	}{
		{"a heartbeat", 0, 0, 5, nil, ""},
		{"nothing new", 10, 4, 5, nil, ""},
		{"the first entries", 0, 0, 2, []*raft.Log{entry(1, 1, raft.LogConfiguration, good), entry(2, 2, raft.LogNoop, "")}, ""},
		{"more entries", 10, 4, 5, []*raft.Log{entry(11, 4, raft.LogCommand, "x"), entry(12, 5, raft.LogBarrier, "")}, ""},
		{"a nil entry", 10, 4, 5, []*raft.Log{entry(11, 4, raft.LogCommand, "x"), nil}, "entry 12: it is missing"},
		{"a gap before", 10, 4, 5, []*raft.Log{entry(12, 4, raft.LogCommand, "x")}, "entry 11: its index is 12"},
		{"a gap at the start", 0, 0, 5, []*raft.Log{entry(7, 4, raft.LogCommand, "x")}, "entry 1: its index is 7"},
		{"a gap within", 10, 4, 5, []*raft.Log{entry(11, 4, raft.LogCommand, "x"), entry(13, 4, raft.LogCommand, "x")}, "entry 12: its index is 13"},
		{"index 0", 0, 0, 5, []*raft.Log{entry(0, 4, raft.LogCommand, "x")}, "its index is 0"},
		{"an overflow", math.MaxUint64, 4, 5, []*raft.Log{entry(0, 4, raft.LogCommand, "x")}, "impossible"},
		{"term 0", 10, 4, 5, []*raft.Log{entry(11, 0, raft.LogCommand, "x")}, "its term is 0"},
		{"an older term", 10, 4, 5, []*raft.Log{entry(11, 3, raft.LogCommand, "x")}, "its term is 3"},
		{"a term to come", 10, 4, 5, []*raft.Log{entry(11, 6, raft.LogCommand, "x")}, "its term is 6"},
		{"a previous term to come", 10, 6, 5, nil, "impossible"},
		{"the last term", 0, 0, math.MaxUint64, nil, "impossible"},
		{"an unknown type", 10, 4, 5, []*raft.Log{entry(11, 4, 77, "x")}, "its type, 77, is unknown"},
		{"a deprecated type", 10, 4, 5, []*raft.Log{entry(11, 4, raft.LogAddPeerDeprecated, "x")}, "is unknown"},
		{"no configuration", 10, 4, 5, []*raft.Log{entry(11, 4, raft.LogConfiguration, "\xc1")}, "can't be decoded"},
		{"an empty configuration", 10, 4, 5, []*raft.Log{entry(11, 4, raft.LogConfiguration, "")}, "can't be decoded"},
	}
	for _, test := range tests {
		err := transport.check(&raft.AppendEntriesRequest{PrevLogEntry: test.prev, PrevLogTerm: test.prevTerm, Term: test.term, Entries: test.entries})
		checkComplaint(t, test.name, err, test.complaint)
	}
}

func checkComplaint(t *testing.T, name string, err error, complaint string) {
	t.Helper()
	switch {
	case complaint == "" && err != nil:
		t.Errorf("%s: got %v", name, err)
	case complaint != "" && (err == nil || !strings.Contains(err.Error(), complaint)):
		t.Errorf("%s: got %v, want %q", name, err, complaint)
	}
}

// A configuration that no leader would make is refused.
func TestCheckConfiguration(t *testing.T) {
	server := func(suffrage raft.ServerSuffrage, id, addr string) raft.Server {
		return raft.Server{Suffrage: suffrage, ID: raft.ServerID(id), Address: raft.ServerAddress(addr)}
	}
	tests := []struct {
		name      string
		servers   []raft.Server
		complaint string
	}{
		{"a voter and a nonvoter", []raft.Server{server(raft.Voter, "a", "1"), server(raft.Nonvoter, "b", "2")}, ""},
		{"nobody", nil, "no voter"},
		{"no voter", []raft.Server{server(raft.Nonvoter, "b", "2")}, "no voter"},
		{"no id", []raft.Server{server(raft.Voter, "", "1")}, "empty"},
		{"no address", []raft.Server{server(raft.Voter, "a", "")}, "empty"},
		{"one id twice", []raft.Server{server(raft.Voter, "a", "1"), server(raft.Voter, "a", "2")}, "twice"},
		{"one address twice", []raft.Server{server(raft.Voter, "a", "1"), server(raft.Voter, "b", "1")}, "twice"},
		{"an unknown suffrage", []raft.Server{server(raft.Voter, "a", "1"), server(9, "b", "2")}, "suffrage"},
	}
	for _, test := range tests {
		err := checkConfiguration(raft.EncodeConfiguration(raft.Configuration{Servers: test.servers}))
		checkComplaint(t, test.name, err, test.complaint)
	}
}

// Votes for impossible logs, and requests that don't exist, are refused.
func TestCheckOthers(t *testing.T) {
	transport := &Transport{}
	tests := []struct {
		name      string
		command   any
		complaint string
	}{
		{"a vote", &raft.RequestVoteRequest{Term: 5, LastLogIndex: 10, LastLogTerm: 4}, ""},
		{"a pre-vote", &raft.RequestPreVoteRequest{Term: 5, LastLogIndex: 10, LastLogTerm: 4}, ""},
		{"a transfer", &raft.TimeoutNowRequest{}, ""},
		{"a vote in the last term", &raft.RequestVoteRequest{Term: math.MaxUint64}, "impossible"},
		{"a pre-vote in the last term", &raft.RequestPreVoteRequest{Term: math.MaxUint64}, "impossible"},
		{"a log of a term to come", &raft.RequestVoteRequest{Term: 5, LastLogTerm: 6}, "impossible"},
		{"something else", "hello", "type string"},
		{"nothing", nil, "type <nil>"},
	}
	for _, test := range tests {
		checkComplaint(t, test.name, transport.check(test.command), test.complaint)
	}
}

// A snapshot that would make Raft panic or go back is refused; its bytes are
// not taken for requests, and the stream can be used on.
func TestRefusedSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		c.leader().apply("one")
		c.settle(1)
		victim := c.members["n1"]
		applied := victim.raft.Load().AppliedIndex()
		term := victim.raft.Load().CurrentTerm()
		good := raft.InstallSnapshotRequest{
			RPCHeader: header("n2"), SnapshotVersion: 1, Term: term, LastLogIndex: applied + 100, LastLogTerm: term,
			Configuration: configuration("n1", "n2"), ConfigurationIndex: 1, Size: 3,
		}
		tests := map[string]func(*raft.InstallSnapshotRequest){
			outdated:                    func(r *raft.InstallSnapshotRequest) { r.LastLogIndex = applied },
			"can't be decoded":          func(r *raft.InstallSnapshotRequest) { r.Configuration = []byte("\xc1") },
			"no voter":                  func(r *raft.InstallSnapshotRequest) { r.Configuration = configuration() },
			"version 0":                 func(r *raft.InstallSnapshotRequest) { r.SnapshotVersion = 0 },
			"of term 0":                 func(r *raft.InstallSnapshotRequest) { r.LastLogTerm = 0 },
			"impossible":                func(r *raft.InstallSnapshotRequest) { r.Term = math.MaxUint64 },
			"with the configuration of": func(r *raft.InstallSnapshotRequest) { r.ConfigurationIndex = applied + 101 },
			"where no stream comes":     func(r *raft.InstallSnapshotRequest) { r.Addr = []byte("n7:7400") },
		}
		nc := c.peer("n2", "n1")
		defer nc.Close()
		from := bufio.NewReader(nc)
		for complaint, change := range tests {
			req := good
			change(&req)
			send(t, nc, rpcInstallSnapshot, &req)
			if _, err := nc.Write([]byte{rpcTimeoutNow, rpcTimeoutNow, rpcTimeoutNow}); err != nil {
				t.Fatal(err)
			}
			if got := answer(t, from, &raft.InstallSnapshotResponse{}); !strings.Contains(got, complaint) {
				t.Errorf("got %q, want %q", got, complaint)
			}
		}
		if state := victim.raft.Load().State(); state == raft.Candidate {
			t.Errorf("the snapshot was taken for requests")
		}
		c.leader().apply("two")
		c.settle(2)
	})
}

// A bad entry of a leader is refused and changes nothing; its peer lives on.
func TestRefusedEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3)
		leader := c.leader()
		leader.apply("one")
		c.settle(1)
		victim := c.others(leader)[0]
		last := victim.raft.Load().LastIndex()
		term := victim.raft.Load().CurrentTerm()
		nc := c.peer(leader.id, victim.id)
		defer nc.Close()
		from := bufio.NewReader(nc)
		send(t, nc, rpcAppendEntries, &raft.AppendEntriesRequest{RPCHeader: header(leader.id), Term: term, PrevLogEntry: last, PrevLogTerm: term,
			Entries: []*raft.Log{entry(last+1, term, raft.LogCommand, "fine"), entry(last+2, term, raft.LogCommand, "bad")}})
		if got := answer(t, from, &raft.AppendEntriesResponse{}); !strings.Contains(got, "is bad") {
			t.Errorf("got %q", got)
		}
		if got := victim.raft.Load().LastIndex(); got != last {
			t.Errorf("entries up to %d were stored, want %d", got, last)
		}
		leader.apply("two")
		c.settle(2)
	})
}

// FuzzPeer sends a node whatever a peer may send: nothing of it may panic, and
// the node goes on. Raft panics on goroutines of its own, which ends the
// process that runs the test.
func FuzzPeer(f *testing.F) {
	h := header("n2")
	good := []*raft.Log{entry(2, 1, raft.LogNoop, ""), entry(3, 2, raft.LogCommand, "x"), entry(4, 2, raft.LogConfiguration, string(configuration("n1", "n2")))}
	seeds := [][]byte{
		encoded(rpcAppendEntries, &raft.AppendEntriesRequest{RPCHeader: h, Term: 2, PrevLogEntry: 1, PrevLogTerm: 1, Entries: good, LeaderCommitIndex: 4}),
		encoded(rpcAppendEntries, &raft.AppendEntriesRequest{RPCHeader: h, Term: 9, Entries: []*raft.Log{nil}}),
		encoded(rpcAppendEntries, &raft.AppendEntriesRequest{RPCHeader: h, Term: 9, Entries: []*raft.Log{entry(50, 2, raft.LogCommand, "x")}, LeaderCommitIndex: 50}),
		encoded(rpcRequestVote, &raft.RequestVoteRequest{RPCHeader: h, Term: 3, LastLogIndex: 9, LastLogTerm: 2}),
		encoded(rpcRequestPreVote, &raft.RequestPreVoteRequest{RPCHeader: h, Term: 3, LastLogIndex: 9, LastLogTerm: 2}),
		encoded(rpcTimeoutNow, &raft.TimeoutNowRequest{RPCHeader: h}),
		append(encoded(rpcInstallSnapshot, &raft.InstallSnapshotRequest{RPCHeader: h, SnapshotVersion: 1, Term: 4, LastLogIndex: 9, LastLogTerm: 3,
			Configuration: configuration("n1", "n2"), Size: 3}), "x\ny"...),
	}
	f.Add(bytes.Join(seeds, nil))
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, requests []byte) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 1)
			nc := c.peer("n2", "n1")
			defer nc.Close()
			go func() {
				for _, err := nc.Read(make([]byte, 4<<10)); err == nil; {
					_, err = nc.Read(make([]byte, 4<<10))
				}
			}()
			_ = nc.SetWriteDeadline(time.Now().Add(time.Minute))
			_, _ = nc.Write(requests)
			time.Sleep(5 * time.Second)
			_ = c.members["n1"].raft.Load().State()
		})
	})
}
