package node

import (
	"context"
	"errors"

	"github.com/hashicorp/raft"

	"example.com/tenure"
	"example.com/tenure/node/internal/leader"
	"example.com/tenure/node/internal/wire"
)

// way returns the node's own sequencer while it leads, else a connection to the
// leader.
func (n *Node) way(ctx context.Context) (leaser, error) {
	if s := n.sequencer.Load(); s != nil {
		return local{s}, nil
	}
	conn, err := n.leaderConn(ctx)
	if err != nil {
		return nil, err
	}
	return remote{conn: conn, flags: wire.FlagForwarded}, nil
}

// leaderConn returns a connection to the node that leads, as far as this one
// knows. An error is definite: nothing was sent.
func (n *Node) leaderConn(ctx context.Context) (*wire.Conn, error) {
	id, addr := n.leader()
	switch {
	case n.Err() != nil:
		return nil, &tenure.UnavailableError{Reason: "this node has stopped", Err: n.Err()}
	case addr == "":
		return nil, &tenure.UnavailableError{Reason: "no leader is known"}
	case id == n.cfg.ID:
		return nil, &tenure.UnavailableError{Reason: "this node was elected and does not lead yet"}
	}
	conn, _, err := n.links.get(ctx, addr)
	if err != nil {
		return nil, &tenure.UnavailableError{Reason: "the leader " + id + " at " + addr + " can't be reached", Err: err}
	}
	return conn, nil
}

// leader returns the id and the address of the node that leads, "" if none is
// known.
func (n *Node) leader() (id, addr string) {
	r := n.raft.Load()
	if r == nil {
		return "", ""
	}
	at, server := r.LeaderWithID()
	id, _ = splitServerID(server)
	return id, string(at)
}

// local is the way to a leader in this process.
type local struct{ sequencer *leader.Sequencer }

func (l local) lease(ctx context.Context, b batch) []tenure.Result {
	done := make(chan struct{})
	req := &leader.Request{Commands: b.commands, Waits: b.waits, Done: func(*leader.Request) { close(done) }}
	if err := l.sequencer.Submit(req); err != nil {
		return allUnavailable(b, err)
	}
	select {
	case <-done:
		return req.Results
	case <-ctx.Done():
		return l.sequencer.End(req, ctx.Err())
	}
}

// remote is the way to a leader over a connection, in one hop or, from a
// client, in two.
type remote struct {
	conn  *wire.Conn
	flags byte
	// told is called with what a node says of its leader, if it is not nil.
	told func(*wire.NotLeader)
}

func (r remote) lease(ctx context.Context, b batch) []tenure.Result {
	request, err := wire.AppendLeaseRequest(nil, b.commands, b.waits)
	if err != nil {
		return allUnavailable(b, err)
	}
	answer, err := r.conn.Call(ctx, wire.OpLease, r.flags, request)
	if err != nil {
		return allUnavailable(b, asUnavailable(err))
	}
	results, err := wire.DecodeLeaseAnswer(answer, b.commands)
	if err != nil {
		return allUnavailable(b, r.refusal(err))
	}
	return results
}

// refusal sorts what refused a whole request.
func (r remote) refusal(err error) error {
	var notLeader *wire.NotLeader
	if errors.As(err, &notLeader) {
		if r.told != nil {
			r.told(notLeader)
		}
		return &tenure.UnavailableError{Reason: notLeader.Error()}
	}
	return asUnavailable(err)
}

// allUnavailable gives every command of a batch the same error.
func allUnavailable(b batch, err error) []tenure.Result {
	results := make([]tenure.Result, len(b.commands))
	for i := range results {
		results[i].Err = unavailableKey(b.commands[i].Key, err)
	}
	return results
}

// asUnavailable returns err as a [*tenure.UnavailableError], unless it is nil
// or another error of the vocabulary. It is 'not applied' only where that is
// sure.
func asUnavailable(err error) error {
	var unavailable *tenure.UnavailableError
	var notSent *wire.NotSent
	var notLeader *wire.NotLeader
	switch {
	case err == nil, errors.Is(err, tenure.ErrHeld), errors.Is(err, tenure.ErrLost), errors.Is(err, tenure.ErrInvalid):
		return err
	case errors.As(err, &unavailable):
		return unavailable
	case errors.As(err, &notSent):
		return &tenure.UnavailableError{Reason: "the request could not be sent", Err: err}
	case errors.As(err, &notLeader):
		return &tenure.UnavailableError{Reason: notLeader.Error()}
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrEnqueueTimeout), errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return &tenure.UnavailableError{Reason: "the node did not take it", Err: err}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &tenure.UnavailableError{MaybeApplied: true, Reason: "no answer before the call ended", Err: err}
	}
	return &tenure.UnavailableError{MaybeApplied: true, Reason: "no answer", Err: err}
}
