package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure"
	"example.com/tenure/node/internal/wire"
)

// Members lists the cluster's nodes, as the leader knows them and a log entry
// confirmed it.
func (n *Node) Members(ctx context.Context) ([]tenure.Member, error) { return n.members(ctx, 1) }

// Join lets the node that listens at addr into the cluster: as a voter, once it
// has caught up, or as a nonvoter, which only follows. The node must have been
// started to join, with empty data. Joining one that is a member already does
// nothing. It blocks until the node is a member as asked for, or ctx ends.
func (n *Node) Join(ctx context.Context, id, addr string, nonvoter bool) error {
	return n.join(ctx, &wire.Join{ID: id, Addr: addr, Nonvoter: nonvoter}, 1)
}

// Remove takes a node out of the cluster, for good: its data is of no use any
// more. It blocks until the log has it, or ctx ends. The last voter can't be
// removed. An id that no member has is an [*tenure.InvalidError] which names the
// members; after a removal whose outcome was unknown it says that the node is
// gone.
func (n *Node) Remove(ctx context.Context, id string) error { return n.remove(ctx, id, 1) }

// Transfer hands leadership to the voter with that id, or to any if id is
// empty. It blocks until the leader says that another leads, or ctx ends.
func (n *Node) Transfer(ctx context.Context, id string) error { return n.transfer(ctx, id, 1) }

// atLeader runs f if this node leads, and else asks the leader, if the request
// may still be passed on. It waits for a leader until ctx ends.
func (n *Node) atLeader(ctx context.Context, hops int, f func(context.Context, *raft.Raft) error, pass func(context.Context, *wire.Conn) error) error {
	ctx, cancel := n.bound(ctx)
	defer cancel()
	for attempt := 0; ; attempt++ {
		if n.sequencer.Load() != nil {
			return f(ctx, n.raft.Load())
		}
		id, addr := n.leader()
		if hops == 0 {
			return &wire.NotLeader{LeaderID: id, LeaderAddr: addr}
		}
		conn, err := n.leaderConn(ctx)
		if err == nil {
			err = pass(ctx, conn)
		}
		var notLeader *wire.NotLeader
		if conn != nil && !errors.As(err, &notLeader) {
			return asUnavailable(err)
		}
		if ended := n.router.backOff(ctx, attempt); ended != nil {
			return &tenure.UnavailableError{Reason: err.Error(), Err: ended}
		}
	}
}

// bound returns a context that ends with the node, too: no call outlives it.
func (n *Node) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(n.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

func (n *Node) members(ctx context.Context, hops int) (members []tenure.Member, err error) {
	err = n.atLeader(ctx, hops, func(ctx context.Context, r *raft.Raft) error {
		members, _, err = n.confirmedMembers(ctx, r)
		return err
	}, func(ctx context.Context, conn *wire.Conn) error {
		var answer wire.Members
		err := call(ctx, conn, wire.OpMembers, wire.FlagForwarded, &wire.Empty{}, &answer)
		members = answer.Members
		return err
	})
	return members, err
}

// confirmedMembers returns the members as this leader's configuration has them,
// which was committed.
func (n *Node) confirmedMembers(ctx context.Context, r *raft.Raft) ([]tenure.Member, raft.Configuration, error) {
	c, err := n.confirmed(ctx, func() (raft.Configuration, error) {
		future := r.GetConfiguration()
		return future.Configuration(), future.Error()
	})
	if err != nil {
		return nil, raft.Configuration{}, err
	}
	return n.listed(c), c, nil
}

// confirmed reads the configuration and then has this leadership commit an
// entry: it led when it read, and what it read is committed with the entry, or
// it gets no answer. Only the sequencer that stood before the reading can say
// so; a later leader knows nothing of this node's uncommitted configuration.
func (n *Node) confirmed(ctx context.Context, read func() (raft.Configuration, error)) (raft.Configuration, error) {
	s := n.sequencer.Load()
	if s == nil {
		id, addr := n.leader()
		return raft.Configuration{}, &wire.NotLeader{LeaderID: id, LeaderAddr: addr}
	}
	c, err := read()
	if err != nil {
		return raft.Configuration{}, err
	}
	_, err = localIndex(ctx, s)
	return c, err
}

// listed returns a configuration in the vocabulary's words.
func (n *Node) listed(c raft.Configuration) []tenure.Member {
	leader, _ := n.leader()
	members := make([]tenure.Member, len(c.Servers))
	for i, s := range c.Servers {
		id, incarnation := splitServerID(s.ID)
		members[i] = tenure.Member{ID: id, Incarnation: incarnation, Addr: string(s.Address), Voter: s.Suffrage == raft.Voter, Leader: id == leader}
	}
	return members
}

// latest is the newest configuration that this node knows, committed or not.
func (n *Node) latest() raft.Configuration {
	r := n.raft.Load()
	if r == nil {
		return raft.Configuration{}
	}
	future := r.GetConfiguration()
	if future.Error() != nil {
		return raft.Configuration{}
	}
	return future.Configuration()
}

func (n *Node) isMember(server raft.ServerID) bool {
	for _, s := range n.latest().Servers {
		if s.ID == server {
			return true
		}
	}
	return false
}

func (n *Node) voters() (count int) {
	for _, s := range n.latest().Servers {
		if s.Suffrage == raft.Voter {
			count++
		}
	}
	return count
}

func (n *Node) remove(ctx context.Context, id string, hops int) error {
	if err := validateID("id", id); err != nil {
		return err
	}
	return n.atLeader(ctx, hops, func(ctx context.Context, r *raft.Raft) error {
		_, c, err := n.confirmedMembers(ctx, r)
		if err != nil {
			return err
		}
		server, voters := find(c, id)
		switch {
		case server.ID == "":
			return &tenure.InvalidError{Field: "id", Value: fmt.Sprintf("%q", id),
				Bound: "the id of a member, of which there are " + strings.Join(ids(c), ", ")}
		case voters == 1 && server.Suffrage == raft.Voter:
			return &tenure.InvalidError{Field: "id", Value: id, Bound: "another node than the last voter: without it there is no cluster"}
		}
		return await(ctx, n, r.RemoveServer(server.ID, 0, remaining(ctx)))
	}, func(ctx context.Context, conn *wire.Conn) error {
		return call(ctx, conn, wire.OpRemove, wire.FlagForwarded, &wire.Target{ID: id}, &wire.Empty{})
	})
}

// find returns the server of the node with that id, and the number of voters.
func find(c raft.Configuration, id string) (found raft.Server, voters int) {
	for _, s := range c.Servers {
		if of, _ := splitServerID(s.ID); of == id {
			found = s
		}
		if s.Suffrage == raft.Voter {
			voters++
		}
	}
	return found, voters
}

// ids returns the ids of a configuration's nodes, in order.
func ids(c raft.Configuration) []string {
	found := make([]string, len(c.Servers))
	for i, s := range c.Servers {
		found[i], _ = splitServerID(s.ID)
	}
	slices.Sort(found)
	return found
}

func (n *Node) transfer(ctx context.Context, id string, hops int) error {
	return n.atLeader(ctx, hops, func(ctx context.Context, r *raft.Raft) error {
		if id == "" {
			r.LeadershipTransfer()
			return n.awaitTransfer(ctx)
		}
		server, _ := find(n.latest(), id)
		switch {
		case id == n.cfg.ID:
			return nil
		case server.ID == "" || server.Suffrage != raft.Voter:
			return &tenure.InvalidError{Field: "id", Value: fmt.Sprintf("%q", id), Bound: "the id of a voter"}
		}
		r.LeadershipTransferToServer(server.ID, server.Address)
		return n.awaitTransfer(ctx)
	}, func(ctx context.Context, conn *wire.Conn) error {
		return call(ctx, conn, wire.OpTransfer, wire.FlagForwarded, &wire.Target{ID: id}, &wire.Empty{})
	})
}

// transferTimeouts is how many election timeouts a transfer may take: Raft gives
// the other node one to catch up and one to be elected.
const transferTimeouts = 3

// awaitTransfer waits for a transfer by who leads, not by its future: Raft never
// answers that if its main loop stands in a broken disk, whoever waits for it is
// left behind, and it calls any loss of leadership a success.
func (n *Node) awaitTransfer(ctx context.Context) error {
	if n.voters() < 2 {
		return &tenure.UnavailableError{Reason: "there is no other voter that could lead"}
	}
	patience := transferTimeouts * n.cfg.ElectionTimeout
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if id, _ := n.leader(); id != "" && id != n.cfg.ID {
			return nil
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

// await waits for a future of a change of members. Raft answers it also when a
// failed disk ends its main loop, unlike those of transfers and of snapshots,
// which nobody may wait for.
func await(ctx context.Context, n *Node, f raft.IndexFuture) error {
	done := make(chan error, 1)
	if !n.proposals.start(func() { done <- f.Error() }) {
		return ErrClosed
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-n.ctx.Done():
		return n.Err()
	}
}

// remaining is how long ctx still gives, for calls of Raft that take a timeout.
func remaining(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return max(time.Until(deadline), time.Millisecond)
	}
	return 10 * time.Second
}
