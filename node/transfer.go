package node

import (
	"context"
	"fmt"

	"github.com/hashicorp/raft"

	"example.com/tenure"
	"example.com/tenure/node/internal/wire"
)

// Transfer hands leadership to the voter with that id, or to any if id is
// empty. It blocks until the node that led knows that this voter leads, or ctx
// ends. If another one leads instead, the error is an [*tenure.UnavailableError]
// that names it. If the voter leads already, it is enough that a log entry
// confirms it.
func (n *Node) Transfer(ctx context.Context, id string) error { return n.transfer(ctx, id, 1) }

// transfer judges only what a log entry confirmed: a deposed leader that has not
// noticed would call itself the leader, and may have old members.
func (n *Node) transfer(ctx context.Context, id string, hops int) error {
	return n.atLeader(ctx, hops, func(ctx context.Context, r *raft.Raft) error {
		_, c, err := n.confirmedMembers(ctx, r)
		if err != nil {
			return err
		}
		server, voters := find(c, id)
		switch {
		case id == n.cfg.ID:
			return nil
		case id == "" && voters < 2:
			return &tenure.UnavailableError{Reason: "there is no other voter that could lead"}
		case id == "":
			r.LeadershipTransfer()
		case server.ID == "" || server.Suffrage != raft.Voter:
			return &tenure.InvalidError{Field: "id", Value: fmt.Sprintf("%q", id), Bound: "the id of a voter"}
		default:
			r.LeadershipTransferToServer(server.ID, server.Address)
		}
		return n.awaitTransfer(ctx, id)
	}, func(ctx context.Context, conn *wire.Conn) error {
		return call(ctx, conn, wire.OpTransfer, wire.FlagForwarded, &wire.Target{ID: id}, &wire.Empty{})
	})
}

// transferTimeouts is how many election timeouts a transfer may take: Raft gives
// the other node one to catch up and one to be elected.
const transferTimeouts = 3

// awaitTransfer waits for a transfer to the node with that id, or to any if it is
// empty, by who leads, not by its future: Raft never answers that if its main
// loop stands in a broken disk, whoever waits for it is left behind, and it calls
// any loss of leadership a success.
func (n *Node) awaitTransfer(ctx context.Context, want string) error {
	patience := transferTimeouts * n.cfg.ElectionTimeout
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		switch id, _ := n.leader(); {
		case id == "" || id == n.cfg.ID: // not yet
		case want == "" || id == want:
			return nil
		default:
			return &tenure.UnavailableError{MaybeApplied: true, Reason: fmt.Sprintf("leadership went to %s, not to %s: transfer it again", id, want)}
		}
		select {
		case <-n.ctx.Done():
			return &tenure.UnavailableError{MaybeApplied: true, Reason: "leadership was not handed over", Err: n.Err()}
		default:
		}
		pause(ctx, readyPoll)
		if err := ctx.Err(); err != nil {
			return &tenure.UnavailableError{MaybeApplied: true, Reason: fmt.Sprintf("no other node took the leadership within %v", patience), Err: err}
		}
	}
}
