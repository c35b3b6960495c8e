package raftwal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/segment"

	"example.com/tenure/node"
)

const (
	logName = "wal" // the folder of the log, in the data folder

	// segmentSize is what a segment is made with. The log is dropped in whole
	// segments, so it takes up to this much more than its entries.
	segmentSize = 16 << 20
)

// Storage returns the storage in folder dir, which is made if it is not there:
// the log in segments that are synced once a write, the rest as
// node.BoltStorage keeps it. A folder that another process uses, that holds
// another storage's log, or that is damaged is refused when a node opens it.
func Storage(dir string) node.Storage { return storage{dir, segmentSize} }

type storage struct {
	dir         string
	segmentSize int
}

// Open implements [node.Storage].
func (s storage) Open(logger hclog.Logger) (node.Stores, error) {
	stores, err := node.BoltStorage(s.dir).Open(logger) // locks the folder
	if err != nil {
		return node.Stores{}, err
	}
	log, err := s.openLog(stores.Log, logger)
	if err != nil {
		return node.Stores{}, errors.Join(err, stores.Close())
	}
	closeRest := stores.Close
	stores.Log, stores.Name = log, s.dir
	stores.Close = func() error { return errors.Join(log.Close(), closeRest()) }
	return stores, nil
}

// openLog opens the log, or makes it if unused, bolt's own log, doesn't say that
// there was one before. Its mark comes last: a start that is interrupted before
// it leaves an empty log, which the next start takes.
func (s storage) openLog(unused raft.LogStore, logger hclog.Logger) (*wal.WAL, error) {
	marked, err := isMarked(unused, s.dir)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(s.dir, logName)
	list := &segmentList{folder: folder}
	switch found, err := list.exists(); {
	case err != nil:
		return nil, err
	case marked && !found:
		return nil, damaged(folder, "its list of segments is not there")
	}
	if err := makeFolder(folder); err != nil {
		return nil, err
	}
	log, err := wal.Open(folder,
		wal.WithLogger(logger.Named("log")),
		wal.WithMetaStore(list),
		wal.WithSegmentFiler(segment.NewFiler(folder, newFiles())),
		wal.WithSegmentSize(s.segmentSize))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	if err := checkMark(log, unused, marked, folder); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return log, nil
}

// checkMark marks bolt's log once this one is there. Without a mark there was
// never an entry: a log with some belongs to a lost bolt file, with the vote in
// it.
func checkMark(log, unused raft.LogStore, marked bool, folder string) error {
	if marked {
		return nil
	}
	last, err := log.LastIndex()
	if err != nil {
		return err
	}
	if last > 0 {
		return damaged(folder, "it has entries, but the file with the vote of its node is not there, or is another's")
	}
	return mark(unused)
}

func makeFolder(folder string) error {
	err := os.Mkdir(folder, 0o700)
	if err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s: the folder of the log can't be made: %w", folder, err)
	}
	return syncFolder(filepath.Dir(folder))
}
