package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/tenure/node"
)

// A disk is a node's data. Beside it it keeps every entry that was compacted
// away, so that the whole log can be read back. It implements node.Storage.
type disk struct {
	kept     node.Storage
	dir      string
	installs func(index uint64)                      // told of each snapshot that came from the leader
	writes   func(entries []*raft.Log) (done func()) // told of each write of entries
}

// boltDisk returns the disk of a node whose data is in bolt files in a folder.
func boltDisk(dir string) disk {
	return newDisk(node.BoltStorage(filepath.Join(dir, "bolt")), dir)
}

func newDisk(kept node.Storage, dir string) disk {
	return disk{kept: kept, dir: dir, installs: func(uint64) {}, writes: func([]*raft.Log) func() { return func() {} }}
}

func (d disk) archive() string { return filepath.Join(d.dir, "compacted.jsonl") }

// Open implements node.Storage.
func (d disk) Open(logger hclog.Logger) (node.Stores, error) {
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return node.Stores{}, err
	}
	archive, err := os.OpenFile(d.archive(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return node.Stores{}, err
	}
	stores, err := d.kept.Open(logger)
	if err != nil {
		return node.Stores{}, errors.Join(err, archive.Close())
	}
	closing := stores.Close
	log := &archivist{LogStore: stores.Log, archive: archive, writes: d.writes}
	stores.Snapshots = snapshots{stores.Snapshots, log, d.installs}
	stores.Log = log
	stores.Close = func() error { return errors.Join(closing(), archive.Close()) }
	return stores, nil
}

// An archivist is a log that keeps what is compacted away.
type archivist struct {
	raft.LogStore
	archive *os.File
	writes  func(entries []*raft.Log) (done func())

	// foreign is the last entry that was there when a snapshot came from the
	// leader: none up to it need ever have been committed.
	foreign atomic.Uint64
}

// StoreLog implements raft.LogStore.
func (a *archivist) StoreLog(entry *raft.Log) error { return a.StoreLogs([]*raft.Log{entry}) }

// StoreLogs implements raft.LogStore.
func (a *archivist) StoreLogs(entries []*raft.Log) error {
	defer a.writes(entries)()
	return a.LogStore.StoreLogs(entries)
}

// DeleteRange implements raft.LogStore. What is deleted from the front, and no
// snapshot of the leader's came instead of it, was committed.
func (a *archivist) DeleteRange(from, to uint64) error {
	first, err := a.FirstIndex()
	if err != nil {
		return err
	}
	if from == first {
		if err := a.write(max(from, a.foreign.Load()+1), to); err != nil {
			return fmt.Errorf("archive of the log: %w", err)
		}
	}
	return a.LogStore.DeleteRange(from, to)
}

func (a *archivist) write(from, to uint64) error {
	// The line before may have been torn by a kill. Then its entries were
	// not deleted.
	text := []byte{'\n'}
	for i := from; i <= to; i++ {
		var entry raft.Log
		if err := a.GetLog(i, &entry); errors.Is(err, raft.ErrLogNotFound) {
			continue
		} else if err != nil {
			return err
		}
		b, err := json.Marshal(&entry)
		if err != nil {
			return err
		}
		text = append(append(text, b...), '\n')
	}
	_, err := a.archive.Write(text)
	return err
}

type snapshots struct {
	raft.SnapshotStore
	log      *archivist
	installs func(index uint64)
}

// Create implements raft.SnapshotStore.
func (s snapshots) Create(
	version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration, configurationIndex uint64, trans raft.Transport,
) (raft.SnapshotSink, error) {
	sink, err := s.SnapshotStore.Create(version, index, term, configuration, configurationIndex, trans)
	if err != nil {
		return nil, err
	}
	last, err := s.log.LastIndex()
	if err != nil {
		return nil, errors.Join(err, sink.Cancel())
	}
	if last >= index {
		return sink, nil // it is the node's own
	}
	s.log.foreign.Store(last)
	return installed{sink, func() { s.installs(index) }}, nil
}

type installed struct {
	raft.SnapshotSink
	tell func()
}

// Close implements raft.SnapshotSink.
func (s installed) Close() error {
	err := s.SnapshotSink.Close()
	if err == nil {
		s.tell()
	}
	return err
}
