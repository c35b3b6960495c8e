package node

import (
	"context"

	"example.com/tenure"
	"example.com/tenure/node/internal/leader"
	"example.com/tenure/node/internal/wire"
)

// readIndex returns the index of an entry that was appended after the call
// began. Whoever has applied it has applied everything that was acknowledged
// before. It tries until ctx ends: reading changes nothing.
func (n *Node) readIndex(ctx context.Context) (uint64, error) {
	for attempt := 0; ; attempt++ {
		index, err := n.tryReadIndex(ctx)
		if err == nil {
			return index, nil
		}
		if ended := n.router.backOff(ctx, attempt); ended != nil {
			return 0, &tenure.UnavailableError{Reason: "no leader confirmed the read: " + err.Error(), Err: ended}
		}
	}
}

func (n *Node) tryReadIndex(ctx context.Context) (uint64, error) {
	if s := n.sequencer.Load(); s != nil {
		return localIndex(ctx, s)
	}
	conn, err := n.leaderConn(ctx)
	if err != nil {
		return 0, err
	}
	var answer wire.Index
	err = call(ctx, conn, wire.OpReadIndex, wire.FlagForwarded, &wire.Empty{}, &answer)
	return answer.Index, err
}

// localIndex reads through this node's own log.
func localIndex(ctx context.Context, s *leader.Sequencer) (uint64, error) {
	done := make(chan struct{})
	req := &leader.Request{Done: func(*leader.Request) { close(done) }}
	if err := s.Submit(req); err != nil {
		return 0, err
	}
	select {
	case <-done:
		return req.Index, req.Err
	case <-ctx.Done():
		s.End(req, ctx.Err())
		return 0, ctx.Err()
	}
}

// call makes one call and reads its answer.
func call(ctx context.Context, conn *wire.Conn, op, flags byte, request, answer wire.Message) error {
	p, err := conn.Call(ctx, op, flags, wire.AppendMessage(nil, request))
	if err != nil {
		return err
	}
	return wire.DecodeAnswer(p, answer)
}
