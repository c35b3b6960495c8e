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

// atLeader runs f if this node leads, and else asks the leader, if the request
// may still be passed on. It waits for a leader until ctx ends. Its errors are
// those of the vocabulary, or a [*wire.NotLeader] if nothing may be passed on.
func (n *Node) atLeader(ctx context.Context, hops int, f func(context.Context, *raft.Raft) error, pass func(context.Context, *wire.Conn) error) error {
	ctx, cancel := n.bound(ctx)
	defer cancel()
	for attempt := 0; ; attempt++ {
		asked, err := n.tryAtLeader(ctx, hops, f, pass)
		var notLeader *wire.NotLeader
		switch {
		case asked && !errors.As(err, &notLeader):
			return asUnavailable(err)
		case hops == 0:
			return err
		}
		if ended := n.router.backOff(ctx, attempt); ended != nil {
			return &tenure.UnavailableError{Reason: err.Error(), Err: ended}
		}
	}
}

// tryAtLeader makes one attempt, and reports whether anybody was asked.
func (n *Node) tryAtLeader(ctx context.Context, hops int, f func(context.Context, *raft.Raft) error, pass func(context.Context, *wire.Conn) error) (asked bool, err error) {
	if n.sequencer.Load() != nil {
		return true, f(ctx, n.raft.Load())
	}
	if hops == 0 {
		return false, n.notLeader()
	}
	conn, err := n.leaderConn(ctx)
	if err != nil {
		return false, err
	}
	return true, pass(ctx, conn)
}

// notLeader says that this node does not lead, and who does.
func (n *Node) notLeader() *wire.NotLeader {
	id, addr := n.leader()
	return &wire.NotLeader{LeaderID: id, LeaderAddr: addr}
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
// which was committed. An error is definite: only reading was tried.
func (n *Node) confirmedMembers(ctx context.Context, r *raft.Raft) ([]tenure.Member, raft.Configuration, error) {
	c, err := n.confirmed(ctx, func() (raft.Configuration, error) {
		future := r.GetConfiguration()
		return future.Configuration(), future.Error()
	})
	var notLeader *wire.NotLeader
	var unavailable *tenure.UnavailableError
	switch {
	case err == nil:
		return n.listed(c), c, nil
	case errors.As(err, &notLeader), errors.As(err, &unavailable):
		return nil, raft.Configuration{}, err
	}
	return nil, raft.Configuration{}, &tenure.UnavailableError{Reason: "no log entry confirmed who the members are", Err: err}
}

// confirmed reads the configuration and then has this leadership commit an
// entry: it led when it read, and what it read is committed with the entry, or
// it gets no answer. Only the sequencer that stood before the reading can say
// so; a later leader knows nothing of this node's uncommitted configuration.
func (n *Node) confirmed(ctx context.Context, read func() (raft.Configuration, error)) (raft.Configuration, error) {
	s := n.sequencer.Load()
	if s == nil {
		return raft.Configuration{}, n.notLeader()
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
