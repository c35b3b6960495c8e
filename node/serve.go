package node

import (
	"context"
	"errors"

	"example.com/tenure"
	"example.com/tenure/node/internal/leader"
	"example.com/tenure/node/internal/wire"
)

// handler answers the operations of the framed protocol: from clients, and from
// other nodes that pass on what they were asked.
type handler struct{ node *Node }

// Handle implements [wire.Handler].
func (h handler) Handle(req *wire.Request) {
	n := h.node
	switch req.Op {
	case wire.OpLease:
		n.serveLease(req)
	case wire.OpReadIndex:
		n.serveReadIndex(req)
	case wire.OpGet:
		serve(n, req, func(ctx context.Context, ask *wire.Key) (wire.Message, error) {
			view, err := n.get(ctx, ask.Key, hops(req))
			return &wire.View{View: view}, err
		})
	case wire.OpState:
		serve(n, req, func(_ context.Context, ask *wire.StateAsk) (wire.Message, error) { return n.stateAt(ask.Index), nil })
	case wire.OpIdentify:
		serve(n, req, func(_ context.Context, _ *wire.Identity) (wire.Message, error) { return n.introduction(), nil })
	case wire.OpFound:
		serve(n, req, func(_ context.Context, ask *wire.Founding) (wire.Message, error) { return &wire.Empty{}, n.told(ask) })
	default:
		h.handleMembership(req)
	}
}

// handleMembership answers what changes the cluster or lists it.
func (h handler) handleMembership(req *wire.Request) {
	n := h.node
	switch req.Op {
	case wire.OpMembers:
		serve(n, req, func(ctx context.Context, _ *wire.Empty) (wire.Message, error) {
			members, err := n.members(ctx, hops(req))
			return &wire.Members{Members: members}, err
		})
	case wire.OpJoin:
		serve(n, req, func(ctx context.Context, ask *wire.Join) (wire.Message, error) {
			return &wire.Joined{ClusterID: n.identity().ClusterID}, n.join(ctx, ask, hops(req))
		})
	case wire.OpRemove:
		serve(n, req, func(ctx context.Context, ask *wire.Target) (wire.Message, error) {
			return &wire.Empty{}, n.remove(ctx, ask.ID, hops(req))
		})
	case wire.OpTransfer:
		serve(n, req, func(ctx context.Context, ask *wire.Target) (wire.Message, error) {
			return &wire.Empty{}, n.transfer(ctx, ask.ID, hops(req))
		})
	default:
		req.Reply(wire.AppendFailure(nil, &tenure.UnavailableError{Reason: "this node does not know the operation: upgrade it"}))
	}
}

// hops is how many times a request may still be passed on: once, and never
// again.
func hops(req *wire.Request) int {
	if req.Flags&wire.FlagForwarded != 0 {
		return 0
	}
	return 1
}

// serve decodes what an operation takes and answers it on a goroutine of its
// own, for as long as the caller waits.
func serve[M any, P interface {
	*M
	wire.Message
}](n *Node, req *wire.Request, f func(ctx context.Context, ask P) (wire.Message, error)) {
	ask := P(new(M))
	if err := wire.DecodeMessage(req.Payload, ask); err != nil {
		req.Reply(wire.AppendFailure(nil, malformed(err)))
		return
	}
	n.background.start(func() {
		ctx, cancel := context.WithCancel(req.Context())
		defer cancel()
		defer context.AfterFunc(n.ctx, cancel)()
		answer, err := f(ctx, ask)
		var notLeader *wire.NotLeader
		switch {
		case errors.As(err, &notLeader):
			req.Reply(wire.AppendFailure(nil, notLeader))
			return
		case err != nil:
			req.Reply(wire.AppendFailure(nil, asUnavailable(err)))
			return
		}
		req.Reply(wire.AppendAnswer(nil, answer))
	})
}

func malformed(err error) error {
	return &tenure.InvalidError{Field: "request", Value: err.Error(), Bound: "well formed"}
}

// serveLease proposes a batch if this node leads, and passes it on if it may.
// It starts no goroutine on the leader.
func (n *Node) serveLease(req *wire.Request) {
	commands, waits, err := wire.DecodeLeaseRequest(req.Payload)
	if err != nil {
		req.Reply(wire.AppendFailure(nil, malformed(err)))
		return
	}
	b := batch{commands: commands, waits: waits}
	if b.mixed() {
		req.Reply(wire.AppendFailure(nil, malformed(errors.New("acquires together with other commands"))))
		return
	}
	if s := n.sequencer.Load(); s != nil {
		n.proposeLease(req, b, s)
		return
	}
	if hops(req) == 0 {
		id, addr := n.leader()
		req.Reply(wire.AppendFailure(nil, &wire.NotLeader{LeaderID: id, LeaderAddr: addr}))
		return
	}
	n.background.start(func() { n.passOn(req, b) })
}

// proposeLease answers a batch from this node's own log.
func (n *Node) proposeLease(req *wire.Request, b batch, s *leader.Sequencer) {
	if invalid := n.firstInvalid(b); invalid != nil {
		n.background.start(func() { n.passOn(req, b) }) // the router answers the invalid ones
		return
	}
	ask := &leader.Request{Commands: b.commands, Waits: b.waits, Done: func(r *leader.Request) {
		req.Reply(wire.AppendLeaseAnswer(nil, b.commands, r.Results))
	}}
	if err := s.Submit(ask); err != nil {
		req.Reply(wire.AppendFailure(nil, err))
		return
	}
	req.OnEnd(func() { s.End(ask, context.Canceled) })
}

func (n *Node) firstInvalid(b batch) error {
	for i := range b.commands {
		if err := check(&b.commands[i], b.wait(i), n.largestTTL()); err != nil {
			return err
		}
	}
	return nil
}

// passOn makes one attempt at the leader on behalf of another's caller, which
// decides itself whether to make another one.
func (n *Node) passOn(req *wire.Request, b batch) {
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	defer context.AfterFunc(n.ctx, cancel)()
	results := n.router.once(ctx, b)
	req.Reply(wire.AppendLeaseAnswer(nil, b.commands, results))
}

func (n *Node) serveReadIndex(req *wire.Request) {
	s := n.sequencer.Load()
	if s == nil {
		id, addr := n.leader()
		req.Reply(wire.AppendFailure(nil, &wire.NotLeader{LeaderID: id, LeaderAddr: addr}))
		return
	}
	ask := &leader.Request{Done: func(r *leader.Request) {
		if r.Err != nil {
			req.Reply(wire.AppendFailure(nil, r.Err))
			return
		}
		req.Reply(wire.AppendAnswer(nil, &wire.Index{Index: r.Index}))
	}}
	if err := s.Submit(ask); err != nil {
		req.Reply(wire.AppendFailure(nil, err))
		return
	}
	req.OnEnd(func() { s.End(ask, context.Canceled) })
}
