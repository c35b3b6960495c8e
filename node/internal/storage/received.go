package storage

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// CheckReceived reports, as a [*RejectedError], entries from another node that
// are not as their leader made them. A transport asks before it hands entries
// to Raft, so that Raft never deletes its own entries to make room for damaged
// ones, and never meets what it would panic over: an absent entry, one of an
// unknown type, or a configuration that it can't decode.
func (g *Guarded) CheckReceived(entries []*raft.Log) error {
	var before *raft.Log
	for _, log := range entries {
		if err := g.checkReceived(before, log); err != nil {
			return err
		}
		before = log
	}
	return nil
}

// checkReceived checks one entry. Whatever is in it, also if the check panics
// over it, ends in an error.
func (g *Guarded) checkReceived(before, log *raft.Log) (err error) {
	if log == nil {
		return &RejectedError{Err: errors.New("it is absent")}
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("checking it panicked: %v", p)
		}
		if err != nil {
			err = &RejectedError{Index: log.Index, Err: err}
		}
	}()
	if err := checkSeal(log); err != nil {
		return err
	}
	return g.checkEntry(before, log)
}

// vet checks entries that are about to be stored, and seals those that have no
// seal yet, which are the leader's own: Raft hands over the very entry that it
// goes on to replicate.
func (g *Guarded) vet(logs []*raft.Log) error {
	var before *raft.Log
	for _, log := range logs {
		if log != nil && len(log.Extensions) == 0 {
			sealEntry(log)
		}
		if err := g.checkReceived(before, log); err != nil {
			return err
		}
		before = log
	}
	return nil
}

// rejected returns why entries were not stored. That is no failure of this
// node, unless entries at the end were deleted to make room for them: Raft then
// still believes that it has those, and must not go on with that belief.
func (g *Guarded) rejected(err error) error {
	if g.truncated.Load() {
		g.fail(&FailedError{Op: "storing entries", Err: fmt.Errorf("in the place of deleted ones: %w", err)})
		return g.Err()
	}
	return err
}

// checkEntry reports an entry that does not follow the one before it in a
// batch, or that Raft or the state machine could not read.
func (g *Guarded) checkEntry(before, log *raft.Log) error {
	if log.Index == 0 || log.Term == 0 {
		return fmt.Errorf("its index is %d and its term %d", log.Index, log.Term)
	}
	if before != nil && (log.Index != before.Index+1 || log.Term < before.Term) {
		return fmt.Errorf("entry %d of term %d does not follow entry %d of term %d",
			log.Index, log.Term, before.Index, before.Term)
	}
	switch log.Type {
	case raft.LogCommand:
		return g.cfg.CheckEntry(log.Data)
	case raft.LogConfiguration:
		return CheckConfiguration(log.Data)
	case raft.LogNoop, raft.LogBarrier:
		return nil
	default:
		return fmt.Errorf("its type, %d, is unknown", log.Type)
	}
}

// CheckConfiguration reports an encoded configuration that Raft can't decode,
// where it would panic. A transport asks for that of a snapshot.
func CheckConfiguration(data []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its configuration can't be decoded: %v", p)
		}
	}()
	raft.DecodeConfiguration(data)
	return nil
}
