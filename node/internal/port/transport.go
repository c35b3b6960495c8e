package port

import (
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// ErrSilenced is the answer to what Raft sends while the node is silenced.
var ErrSilenced = errors.New("not sent: this node keeps silent while its disk hangs")

// A TransportConfig describes a [Transport]. All but the durations,
// SnapshotOutdated and the Logger is required.
type TransportConfig struct {
	// Timeout is how long a request to a peer may take; a snapshot may take so
	// long for each 256 KiB. 0 is one second.
	Timeout time.Duration
	// Expect says which node and incarnation an address of Raft's
	// configuration is of, "" where that is unknown. Whoever else answers
	// there is refused. It must not block.
	Expect func(addr raft.ServerAddress) (id, incarnation string)
	// Silenced says that nothing may be sent now, because the disk hangs: what
	// Raft sends then fails at once, and the others elect a leader.
	Silenced func() bool
	// CheckEntries says what is wrong with entries from a leader, of which
	// none is nil, before Raft sees them. It may stop the node.
	CheckEntries func(entries []*raft.Log) error
	// Applied returns raft.Raft's AppliedIndex, or false before there is one.
	Applied func() (index uint64, known bool)
	// Heard is called, if it is not nil, for each request of a leader about the
	// log, before Raft sees it, with the leader's term and commit index. It
	// must not block.
	Heard func(term, commit uint64)
	// SnapshotPatience is how long the bytes of an incoming snapshot may stay
	// away before its sender is cut off, since Raft does nothing else
	// meanwhile; 0 is five seconds.
	SnapshotPatience time.Duration
	// SnapshotOutdated is called, if it is not nil, when a follower refused
	// this leader's snapshot because it has applied more. Only a newer one can
	// help it, so the node should commit an entry and take a snapshot. It is
	// called again and again until then, and must not block.
	//
	// It takes no old snapshot to get there. A snapshot replaces the whole log
	// of a follower; if its leader dies after the first entry that follows, and
	// the next leader doesn't have that entry, then the follower's log and the
	// leader's have no entry in common, and Raft sends the snapshot which the
	// follower already has: without a pause if it is accepted
	// (hashicorp/raft#697).
	SnapshotOutdated func()
	Logger           hclog.Logger // nil is nowhere
}

func (c TransportConfig) withDefaults() TransportConfig {
	if c.Timeout <= 0 {
		c.Timeout = time.Second
	}
	if c.SnapshotPatience <= 0 {
		c.SnapshotPatience = 5 * time.Second
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	return c
}

// A Transport is hashicorp/raft's NetworkTransport over a port's streams, with
// what that leaves open:
//
//   - Heartbeats take no short cut around Raft's main loop, where they can
//     corrupt the log (hashicorp/raft#695).
//   - What comes in is checked before Raft sees it: see [Transport.Consumer].
//   - A node whose disk hangs falls silent.
//   - Close closes its connections, and nothing of it runs any more.
//
// It embeds the NetworkTransport, so that methods which Raft looks for by type
// assertion, as RequestPreVote, are there.
type Transport struct {
	*raft.NetworkTransport
	config  TransportConfig
	streams *streams
	checked chan raft.RPC
	once    sync.Once
	stop    chan struct{}
	running sync.WaitGroup
}

// maxPool is how many idle connections are kept for each peer: one for
// heartbeats, one for entries, one for votes.
const maxPool = 3

// NewTransport starts the port's transport for Raft. Streams of Raft's are
// refused before. There is one at a time; closing the port closes its
// connections, but the caller must call its Close, which raft.Raft's Shutdown
// does as well.
func (p *Port) NewTransport(config TransportConfig) *Transport {
	config = config.withDefaults()
	t := &Transport{
		config:  config,
		streams: newStreams(p, config.Expect),
		checked: make(chan raft.RPC),
		stop:    make(chan struct{}),
	}
	t.NetworkTransport = raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream:                  t.streams,
		MaxPool:                 maxPool,
		MaxRPCsInFlight:         1, // no pipelining: hashicorp/raft#612
		Timeout:                 config.Timeout,
		Logger:                  config.Logger,
		MsgpackUseNewTimeFormat: true,
	})
	t.running.Go(t.inspect)
	p.streams.Store(t.streams)
	return t
}

// Consumer is raft.Transport's. The requests on it have been checked: their
// entries follow each other and the previous one, are of known types, and pass
// CheckEntries; their configurations are ones that a leader makes; and a
// snapshot is not older than what was applied. The others are answered with an
// error. They come one at a time, each after the answer to the one before.
func (t *Transport) Consumer() <-chan raft.RPC { return t.checked }

// SetHeartbeatHandler is raft.Transport's, and does nothing: heartbeats go the
// way of all requests.
func (t *Transport) SetHeartbeatHandler(func(raft.RPC)) {}

// Close is raft.WithClose's. It closes all streams and waits for what runs. It
// is safe to call again.
func (t *Transport) Close() error {
	t.once.Do(func() {
		close(t.stop)
		t.streams.port.streams.CompareAndSwap(t.streams, nil)
		_ = t.NetworkTransport.Close() // closes the streams, and has no error
		t.CloseStreams()
	})
	t.running.Wait()
	return nil
}

// AppendEntries is raft.Transport's.
func (t *Transport) AppendEntries(id raft.ServerID, target raft.ServerAddress, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if t.config.Silenced() {
		return ErrSilenced
	}
	if isHeartbeat(req) {
		return t.NetworkTransport.AppendEntries(id, target, req, resp)
	}
	return t.reach(func() error { return t.NetworkTransport.AppendEntries(id, target, req, resp) })
}

// isHeartbeat tells Raft's heartbeats from what replicates the log: only they
// say nothing of the log at all.
func isHeartbeat(req *raft.AppendEntriesRequest) bool {
	return len(req.Entries) == 0 && req.PrevLogEntry == 0 && req.LeaderCommitIndex == 0
}

const (
	reachPoll = 50 * time.Millisecond
	reachMost = 30 * time.Second
)

// reach tries a request again while the peer can't be dialled. Raft itself would
// back off, for up to ten seconds after a while, and nothing wakes it: a peer
// that comes back would get no entries for that long, and if another voter
// stopped meanwhile, the cluster would stand still. The request did not reach
// anyone before, and sending it late is no different from a slow network.
func (t *Transport) reach(send func() error) error {
	started := time.Now()
	for {
		err := send()
		var undialled *dialError
		if !errors.As(err, &undialled) || time.Since(started) > reachMost || t.config.Silenced() {
			return err
		}
		timer := time.NewTimer(reachPoll)
		select {
		case <-timer.C:
		case <-t.stop:
			timer.Stop()
			return err
		}
	}
}

// RequestVote is raft.Transport's.
func (t *Transport) RequestVote(id raft.ServerID, target raft.ServerAddress, req *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	if t.config.Silenced() {
		return ErrSilenced
	}
	return t.again(func() error { return t.NetworkTransport.RequestVote(id, target, req, resp) })
}

// RequestPreVote is raft.WithPreVote's.
func (t *Transport) RequestPreVote(id raft.ServerID, target raft.ServerAddress, req *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	if t.config.Silenced() {
		return ErrSilenced
	}
	return t.again(func() error { return t.NetworkTransport.RequestPreVote(id, target, req, resp) })
}

// again sends a request for a vote on another connection when one broke at once.
// Those for votes lie idle from election to election, and if the peer was
// restarted meanwhile all of them are broken; without another try the election
// would be lost to that. Asking twice for a vote is asking once.
func (t *Transport) again(send func() error) error {
	started := time.Now()
	var undialled *dialError
	for range maxPool {
		err := send()
		if err == nil || errors.As(err, &undialled) || time.Since(started) > t.config.Timeout/4 {
			return err
		}
	}
	return send()
}

// InstallSnapshot is raft.Transport's.
func (t *Transport) InstallSnapshot(id raft.ServerID, target raft.ServerAddress, req *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	if t.config.Silenced() {
		return ErrSilenced
	}
	err := t.NetworkTransport.InstallSnapshot(id, target, req, resp, data)
	if err != nil && strings.Contains(err.Error(), outdated) && t.config.SnapshotOutdated != nil {
		t.config.SnapshotOutdated()
	}
	return err
}

// TimeoutNow is raft.Transport's.
func (t *Transport) TimeoutNow(id raft.ServerID, target raft.ServerAddress, req *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	if t.config.Silenced() {
		return ErrSilenced
	}
	return t.NetworkTransport.TimeoutNow(id, target, req, resp)
}
