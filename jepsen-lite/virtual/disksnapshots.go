package virtual

import (
	"errors"
	"io"

	"github.com/hashicorp/raft"
)

type diskSnapshots struct {
	use *use
	raft.SnapshotStore
}

// Create implements raft.SnapshotStore.
func (s diskSnapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration, configurationIndex uint64, trans raft.Transport) (raft.SnapshotSink, error) {
	if err := s.use.write(nothing); err != nil {
		return nil, err
	}
	sink, err := s.SnapshotStore.Create(version, index, term, configuration, configurationIndex, trans)
	if err != nil {
		return nil, err
	}
	last, err := s.use.stores.Log.LastIndex()
	if err != nil {
		return nil, errors.Join(err, sink.Cancel())
	}
	return diskSink{sink, s.use, index, last < index}, nil
}

// Open implements raft.SnapshotStore. A flipped bit does not show in what List
// tells: that is the name, which says index and term a second time.
func (s diskSnapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	meta, content, err := s.SnapshotStore.Open(id)
	if f := s.use.disk.flipped(inSnapshot); err == nil && f != nil {
		content = f.inContent(meta, content)
		f.inMeta(meta)
	}
	return meta, content, err
}

type diskSink struct {
	raft.SnapshotSink
	use       *use
	index     uint64
	installed bool // it is ahead of the log: it came from the leader
}

// Close implements raft.SnapshotSink.
func (s diskSink) Close() error {
	if err := s.use.write(nothing); err != nil {
		return errors.Join(err, s.SnapshotSink.Cancel())
	}
	err := s.SnapshotSink.Close()
	switch {
	case err != nil:
	case s.installed:
		s.use.disk.installs(s.index)
	default:
		s.use.disk.took(s.index)
	}
	return err
}

// took notes down a snapshot that the node took itself.
func (d *Disk) took(index uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.applied = max(d.applied, index)
}
