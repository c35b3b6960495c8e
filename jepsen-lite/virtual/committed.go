package virtual

import (
	"github.com/hashicorp/raft"

	"example.com/tenure/fsm"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

var functions = map[fsm.Kind]string{
	fsm.Acquire: history.Acquire, fsm.Renew: history.Renew, fsm.Release: history.Release, fsm.Forget: history.Forget,
	fsm.Cluster: history.Cluster,
}

// writeLog writes down the committed log, as the disks have it. Two nodes that
// have another entry at one committed index are an error of the run's.
func (a *arena) writeLog(commit uint64) {
	log := make(map[uint64]raft.Log)
	for i := range a.plan.Nodes {
		s := a.nodes[plan.NodeName(i)]
		err := s.disk.Entries(func(entry raft.Log) {
			had, known := log[entry.Index]
			switch {
			case entry.Index > commit:
			case known && had.Term == entry.Term:
			case known && entry.Term < had.Term:
				// A node that was behind at the end may keep what was never
				// committed.
			default:
				log[entry.Index] = entry
			}
		})
		if err != nil {
			a.fail("read the log of %s: %w", s.name, err)
		}
	}
	for index := uint64(1); index <= commit; index++ {
		entry, known := log[index]
		if !known {
			a.fail("no disk has the committed entry %d", index)
			return
		}
		if entry.Type == raft.LogCommand {
			a.writeEntry(entry)
		}
	}
}

func (a *arena) writeEntry(entry raft.Log) {
	commands, err := fsm.DecodeEntry(entry.Data)
	if err != nil {
		a.fail("entry %d: %w", entry.Index, err)
		return
	}
	for i, c := range commands {
		a.record(history.Event{
			Kind: history.Log, F: functions[c.Kind], Index: entry.Index, Term: entry.Term, Pos: i,
			Key: c.Key, Owner: c.Owner, Epoch: c.Epoch, Req: c.RequestID, TTL: c.TTL, Number: c.Number.Serial,
			SeenEpoch: c.Evidence.Epoch, SeenIndex: c.Evidence.GrantIndex,
		})
	}
}
