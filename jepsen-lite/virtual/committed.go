package virtual

import (
	"bytes"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure/fsm"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

var functions = map[fsm.Kind]string{
	fsm.Acquire: history.Acquire, fsm.Renew: history.Renew, fsm.Release: history.Release, fsm.Forget: history.Forget,
	fsm.Cluster: history.Cluster,
}

// commits returns up to which index each node knows the log to be committed.
func (a *arena) commits() map[string]uint64 {
	known := make(map[string]uint64)
	for name, s := range a.nodes {
		if n, _ := s.running(); n != nil {
			known[name] = n.Status().CommitIndex
		}
	}
	return known
}

// A told entry is one that a node has for committed.
type told struct {
	raft.Log
	node string
}

// writeLog writes down the committed log, as the disks have it: of each only
// what its node knew to be committed. Two nodes that have another entry at one
// committed index are written down both, which no checker lets pass.
func (a *arena) writeLog(commits map[string]uint64) {
	log, differ := make(map[uint64]told), make(map[uint64]told)
	commit := uint64(0)
	for i := range a.plan.Nodes {
		s := a.nodes[plan.NodeName(i)]
		for i, disk := range s.disks {
			upTo := uint64(0)
			if i == len(s.disks)-1 {
				upTo = commits[s.name]
				commit = max(commit, upTo)
			}
			err := disk.Committed(upTo, func(entry raft.Log) {
				if had, known := log[entry.Index]; !known {
					log[entry.Index] = told{entry, s.name}
				} else if !sameEntry(&had.Log, &entry) {
					differ[entry.Index] = told{entry, s.name}
				}
			})
			if err != nil {
				a.fail("read the log of %s: %w", s.name, err)
			}
		}
	}
	for index := uint64(1); index <= commit; index++ {
		entry, known := log[index]
		if !known {
			a.fail("no disk has the committed entry %d", index)
			return
		}
		a.writeEntry(entry)
		if other, known := differ[index]; known {
			a.record(history.Event{Kind: history.Sum, Node: entry.node, Index: index, Sum: describe(&entry.Log)})
			a.record(history.Event{Kind: history.Sum, Node: other.node, Index: index, Sum: describe(&other.Log)})
		}
	}
}

func sameEntry(a, b *raft.Log) bool {
	return a.Term == b.Term && a.Type == b.Type && bytes.Equal(a.Data, b.Data)
}

// describe stands in the place of a checksum where two committed entries
// differ.
func describe(entry *raft.Log) string {
	return fmt.Sprintf("entry of term %d, type %v, %x", entry.Term, entry.Type, entry.Data)
}

// storedAt returns when the first disk came to store an entry.
func (a *arena) storedAt(entry *raft.Log) (first time.Duration) {
	for _, s := range a.nodes {
		for _, disk := range s.disks {
			if at, known := disk.storedAt(entry); known && (first == 0 || at.Sub(a.start) < first) {
				first = at.Sub(a.start)
			}
		}
	}
	return first
}

func (a *arena) writeEntry(entry told) {
	if entry.Type != raft.LogCommand {
		return
	}
	commands, err := fsm.DecodeEntry(entry.Data)
	if err != nil {
		a.fail("entry %d: %w", entry.Index, err)
		return
	}
	stored := a.storedAt(&entry.Log)
	for i, c := range commands {
		a.record(history.Event{
			Kind: history.Log, Stored: stored, F: functions[c.Kind], Index: entry.Index, Term: entry.Term, Pos: i,
			Key: c.Key, Owner: c.Owner, Epoch: c.Epoch, Req: c.RequestID, TTL: c.TTL, Number: c.Number.Serial,
			SeenEpoch: c.Evidence.Epoch, SeenIndex: c.Evidence.GrantIndex,
		})
	}
}
