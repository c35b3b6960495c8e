package port

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// maxTerm bounds the terms and indexes of a peer. No cluster lives long enough
// to reach it, and beyond it they would overflow.
const maxTerm = 1 << 62

// outdated is how the refusal of an old snapshot begins. Its sender knows it by
// this text: hashicorp/raft carries errors as nothing else.
const outdated = "a snapshot is older than what it should replace"

// check says what is wrong with a request of a peer. hashicorp/raft v1.7.3
// panics, on a goroutine of its own and so for the whole process, on
//
//   - a nil entry (raft.go, appendEntries),
//   - a configuration that it can't decode (configuration.go:369),
//   - an entry of an unknown type, once it is committed (raft.go:1382),
//   - a gap in the log, once it has to apply what is missing (raft.go:1329):
//     one that entries leave, or that a snapshot opens which is older than what
//     was applied.
//
// What can come from no leader is refused as well, although it would not panic.
//
// No peer can provoke the other panics of that version. api.go:603, raft.go:277,
// 1329 and 2144 need stores that fail; raft.go:1177 a user's Restore, which
// nobody calls; fsm.go:164 a state machine that miscounts; net_transport.go:821
// pipelining, and raft.go:2056 a transport without pre-votes; configuration.go:324
// and 359 values that can't be encoded; util.go:28 and 62 a system without
// randomness; fsm.go:252, future.go:111 and util.go:116 other code than this.
// What panics in decoding a message the codec returns as an error, and it
// allocates only as bytes come; their number is not bounded, since a peer that
// got this far is a node of this cluster.
func (t *Transport) check(command any) error {
	switch req := command.(type) {
	case *raft.AppendEntriesRequest:
		return t.checkAppend(req)
	case *raft.InstallSnapshotRequest:
		return t.checkInstall(req)
	case *raft.RequestVoteRequest:
		return checkPosition(req.Term, req.LastLogIndex, req.LastLogTerm)
	case *raft.RequestPreVoteRequest:
		return checkPosition(req.Term, req.LastLogIndex, req.LastLogTerm)
	case *raft.TimeoutNowRequest:
		return nil
	}
	return fmt.Errorf("a request of type %T", command)
}

// checkPosition checks where a peer says that a log ends, or goes on.
func checkPosition(term, index, logTerm uint64) error {
	if term > maxTerm || index > maxTerm || logTerm > term {
		return fmt.Errorf("term %d, with an entry %d of term %d, is impossible", term, index, logTerm)
	}
	return nil
}

func (t *Transport) checkAppend(req *raft.AppendEntriesRequest) error {
	if err := checkPosition(req.Term, req.PrevLogEntry, req.PrevLogTerm); err != nil {
		return err
	}
	index, term := req.PrevLogEntry, req.PrevLogTerm
	for _, entry := range req.Entries {
		index++
		if err := checkEntry(entry, index, term, req.Term); err != nil {
			return fmt.Errorf("entry %d: %w", index, err)
		}
		term = entry.Term
	}
	if len(req.Entries) == 0 {
		return nil
	}
	return t.config.CheckEntries(req.Entries)
}

// checkEntry checks the entry that should be at an index, after one of the term
// before, from a leader of the term of now.
func checkEntry(entry *raft.Log, index, before, now uint64) error {
	switch {
	case entry == nil:
		return errors.New("it is missing")
	case entry.Index != index:
		return fmt.Errorf("its index is %d", entry.Index)
	case entry.Term == 0 || entry.Term < before || entry.Term > now:
		return fmt.Errorf("its term is %d, after %d and from a leader of term %d", entry.Term, before, now)
	}
	switch entry.Type {
	case raft.LogCommand, raft.LogNoop, raft.LogBarrier:
		return nil
	case raft.LogConfiguration:
		return checkConfiguration(entry.Data)
	}
	return fmt.Errorf("its type, %d, is unknown", entry.Type)
}

func (t *Transport) checkInstall(req *raft.InstallSnapshotRequest) error {
	if err := checkPosition(req.Term, req.LastLogIndex, req.LastLogTerm); err != nil {
		return err
	}
	applied, known := t.config.Applied()
	switch {
	case !known:
		return errors.New("a snapshot, when Raft has not started")
	case req.LastLogIndex <= applied:
		// It was under way for long, and newer ones overtook it; or its leader
		// found no entry in common with this node's log, see SnapshotOutdated.
		// Raft would go back to it, and then miss the entries in between.
		return fmt.Errorf("%s: it ends at entry %d, when entry %d is applied", outdated, req.LastLogIndex, applied)
	case !t.streams.anyFrom(string(req.Addr)):
		return fmt.Errorf("a snapshot in the name of %q, where no stream comes from", req.Addr)
	case req.SnapshotVersion != raft.SnapshotVersionMax:
		return fmt.Errorf("a snapshot of version %d", req.SnapshotVersion)
	case req.Size < 0 || req.LastLogTerm == 0 || req.ConfigurationIndex > req.LastLogIndex:
		return fmt.Errorf("a snapshot of %d bytes, up to entry %d of term %d, with the configuration of entry %d, is impossible",
			req.Size, req.LastLogIndex, req.LastLogTerm, req.ConfigurationIndex)
	}
	if err := checkConfiguration(req.Configuration); err != nil {
		return fmt.Errorf("a snapshot: %w", err)
	}
	return nil
}

// checkConfiguration checks that data is a configuration which a leader can
// have made: one that it checks in the same way.
func checkConfiguration(data []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its configuration can't be decoded: %v", p)
		}
	}()
	voters := 0
	ids, addrs := make(map[raft.ServerID]bool), make(map[raft.ServerAddress]bool)
	for _, server := range raft.DecodeConfiguration(data).Servers {
		if server.ID == "" || server.Address == "" || ids[server.ID] || addrs[server.Address] {
			return fmt.Errorf("its configuration has server %q at %q, which is empty or there twice", server.ID, server.Address)
		}
		ids[server.ID], addrs[server.Address] = true, true
		switch server.Suffrage {
		case raft.Voter:
			voters++
		case raft.Nonvoter:
		default:
			return fmt.Errorf("its configuration gives server %q the unknown suffrage %d", server.ID, server.Suffrage)
		}
	}
	if voters == 0 {
		return errors.New("its configuration has no voter")
	}
	return nil
}
