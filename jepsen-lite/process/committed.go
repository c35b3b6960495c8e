package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/tenure/fsm"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

// entries calls f with every entry that the disk ever had and that was not
// written over, once the node was closed.
func (d disk) entries(f func(raft.Log)) error {
	compacted, err := os.ReadFile(d.archive())
	if err != nil {
		return err
	}
	for line := range bytes.SplitSeq(compacted, []byte{'\n'}) {
		var entry raft.Log
		if json.Unmarshal(line, &entry) == nil { // else it was torn: the log still has it
			f(entry)
		}
	}
	stores, err := d.kept.Open(hclog.NewNullLogger())
	if err != nil {
		return err
	}
	return errors.Join(each(stores.Log, f), stores.Close())
}

func each(log raft.LogStore, f func(raft.Log)) error {
	first, err := log.FirstIndex()
	if err != nil {
		return err
	}
	last, err := log.LastIndex()
	if err != nil || last == 0 {
		return err
	}
	for i := first; i <= last; i++ {
		var entry raft.Log
		if err := log.GetLog(i, &entry); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		f(entry)
	}
	return nil
}

var functions = map[fsm.Kind]string{
	fsm.Acquire: history.Acquire, fsm.Renew: history.Renew, fsm.Release: history.Release, fsm.Forget: history.Forget,
	fsm.Cluster: history.Cluster,
}

// writeLog writes down the committed log, as the disks have it. Of two entries
// at one index the one of the later term counts: a node that was behind may
// keep what was never committed.
func (a *arena) writeLog(commit uint64) error {
	log := make(map[uint64]raft.Log)
	for i := range a.Plan.Nodes {
		name := plan.NodeName(i)
		err := boltDisk(a.dataDir(name)).entries(func(entry raft.Log) {
			if had, known := log[entry.Index]; entry.Index <= commit && (!known || had.Term < entry.Term) {
				log[entry.Index] = entry
			}
		})
		if err != nil {
			return fmt.Errorf("read the log of %s: %w", name, err)
		}
	}
	for index := uint64(1); index <= commit; index++ {
		entry, known := log[index]
		if !known {
			return fmt.Errorf("no disk has the committed entry %d", index)
		}
		if entry.Type != raft.LogCommand {
			continue
		}
		if err := a.writeEntry(entry); err != nil {
			return fmt.Errorf("entry %d: %w", index, err)
		}
	}
	return nil
}

// noteStored notes down when entries were stored first.
func (a *arena) noteStored(s *storing) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range s.Entries {
		if first, known := a.stored[id]; !known || s.At < first {
			a.stored[id] = s.At
		}
	}
}

func (a *arena) storedAt(entry raft.Log) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stored[entryID{entry.Index, entry.Term}]
}

func (a *arena) writeEntry(entry raft.Log) error {
	commands, err := fsm.DecodeEntry(entry.Data)
	if err != nil {
		return err
	}
	stored := a.storedAt(entry)
	for i, c := range commands {
		a.Record(history.Event{
			Kind: history.Log, Stored: stored, F: functions[c.Kind], Index: entry.Index, Term: entry.Term, Pos: i,
			Key: c.Key, Owner: c.Owner, Epoch: c.Epoch, Req: c.RequestID, TTL: c.TTL, Number: c.Number.Serial,
			SeenEpoch: c.Evidence.Epoch, SeenIndex: c.Evidence.GrantIndex,
		})
	}
	return nil
}
