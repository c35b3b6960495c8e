package port

import (
	"io"
	"time"

	"github.com/hashicorp/raft"
)

// inspect passes requests of peers on to Raft, one at a time. Raft would not
// take a second one meanwhile; waiting for its answer makes sure that the
// checks of the next one see all that it changed.
func (t *Transport) inspect() {
	for {
		select {
		case rpc := <-t.NetworkTransport.Consumer():
			if err := t.check(rpc.Command); err != nil {
				t.refuse(rpc, err)
				continue
			}
			t.hear(rpc.Command)
			t.pass(rpc)
		case <-t.stop:
			return
		}
	}
}

// hear tells the node what a leader says of its log.
func (t *Transport) hear(command any) {
	req, ok := command.(*raft.AppendEntriesRequest)
	if ok && t.config.Heard != nil && !isHeartbeat(req) {
		t.config.Heard(req.Term, req.LeaderCommitIndex)
	}
}

// pass hands a request to Raft and its answer back.
func (t *Transport) pass(rpc raft.RPC) {
	answer := make(chan raft.RPCResponse, 1)
	on := raft.RPC{Command: rpc.Command, Reader: t.watched(rpc), RespChan: answer}
	select {
	case t.checked <- on:
	case <-t.stop:
		return
	}
	select {
	case resp := <-answer:
		rpc.RespChan <- resp // has room for the only one
	case <-t.stop:
	}
}

// refuse answers a request with an error. What follows it on the stream is a
// snapshot, which must not be taken for requests: it is read to its end, on a
// goroutine that a stalled sender may keep for a while.
func (t *Transport) refuse(rpc raft.RPC, err error) {
	t.config.Logger.Error("refused a request of a peer", "error", err)
	reader := t.watched(rpc)
	if reader == nil {
		rpc.Respond(nil, err)
		return
	}
	t.running.Go(func() {
		_, _ = io.Copy(io.Discard, reader)
		rpc.Respond(nil, err)
	})
}

// watched returns the reader of a request's snapshot, whose sender is cut off
// when it stalls, or nil if there is none. Raft reads it on its main loop and
// without a deadline: a leader that lost its power in the middle would keep
// this node from electing another one.
func (t *Transport) watched(rpc raft.RPC) io.Reader {
	if rpc.Reader == nil {
		return nil
	}
	install, ok := rpc.Command.(*raft.InstallSnapshotRequest)
	if !ok {
		return rpc.Reader
	}
	from := string(install.Addr)
	return &watchedReader{from: rpc.Reader, patience: t.config.SnapshotPatience, stalled: func() {
		t.config.Logger.Error("a snapshot stalled: cutting its sender off", "from", from)
		t.streams.closeFrom(from)
	}}
}

// A watchedReader calls stalled when one Read takes longer than patience.
type watchedReader struct {
	from     io.Reader
	patience time.Duration
	stalled  func()
}

// Read is io.Reader's.
func (r *watchedReader) Read(p []byte) (int, error) {
	timer := time.AfterFunc(r.patience, r.stalled)
	defer timer.Stop()
	return r.from.Read(p)
}
