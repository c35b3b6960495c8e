package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// guardedSnapshots is the guarded snapshot store. Its calls are watched by the
// slow watch: writing a large snapshot takes its time and is no stall.
type guardedSnapshots struct{ g *Guarded }

// Create begins a snapshot.
func (s guardedSnapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, trans raft.Transport) (raft.SnapshotSink, error) {
	var sink raft.SnapshotSink
	err := s.g.call(&s.g.slow, "creating a snapshot", func() (err error) {
		sink, err = s.g.inner.Snapshots.Create(version, index, term, configuration, configurationIndex, trans)
		if err != nil {
			return err
		}
		_, err = sink.Write(sealSnapshot(&raft.SnapshotMeta{
			Version:            version,
			Index:              index,
			Term:               term,
			Configuration:      configuration,
			ConfigurationIndex: configurationIndex,
		}))
		return err
	})
	if err != nil {
		return nil, err
	}
	return guardedSink{sink, s.g}, nil
}

// List returns the snapshots that can be opened, the newest first.
func (s guardedSnapshots) List() ([]*raft.SnapshotMeta, error) {
	all, err := s.all()
	if err != nil {
		return nil, err
	}
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	var usable []*raft.SnapshotMeta
	for _, meta := range all {
		if _, hidden := s.g.hidden[meta.ID]; !hidden {
			usable = append(usable, meta)
		}
	}
	return usable, nil
}

func (s guardedSnapshots) all() (all []*raft.SnapshotMeta, err error) {
	err = s.g.call(&s.g.slow, "listing the snapshots", func() (err error) {
		all, err = s.g.inner.Snapshots.List()
		return err
	})
	return all, err
}

// Open opens a snapshot. One that was reaped since it was listed is an error
// but no failure; one that can't be read is.
func (s guardedSnapshots) Open(id string) (meta *raft.SnapshotMeta, source io.ReadCloser, err error) {
	var gone error
	err = s.g.call(&s.g.slow, "opening a snapshot", func() (err error) {
		meta, source, err = openSealed(s.g.inner.Snapshots, id)
		if errors.Is(err, fs.ErrNotExist) {
			gone, err = err, nil
		}
		if err != nil {
			return s.g.damage("snapshot %s: %v", id, err)
		}
		return nil
	})
	if err == nil {
		err = gone
	}
	if err != nil {
		return nil, nil, err
	}
	return meta, &guardedSource{inner: source, g: s.g}, nil
}

// guardedSink is a snapshot being written.
type guardedSink struct {
	inner raft.SnapshotSink
	g     *Guarded
}

// ID returns the snapshot's id.
func (s guardedSink) ID() string { return s.inner.ID() }

// Write appends to the snapshot.
func (s guardedSink) Write(p []byte) (n int, err error) {
	err = s.g.call(&s.g.slow, "writing a snapshot", func() (err error) {
		n, err = s.inner.Write(p)
		return err
	})
	return n, err
}

// Close ends the snapshot, which counts from then on.
func (s guardedSink) Close() error {
	return s.g.call(&s.g.slow, "ending a snapshot", s.inner.Close)
}

// Cancel drops the snapshot.
func (s guardedSink) Cancel() error {
	return s.g.call(&s.g.slow, "dropping a snapshot", s.inner.Cancel)
}

// guardedSource is a snapshot being read. Both Raft and its state machine close
// one, so that a second Close must not be taken for a disk that fails.
type guardedSource struct {
	inner  io.ReadCloser
	g      *Guarded
	closed atomic.Bool
}

// Read reads on.
func (s *guardedSource) Read(p []byte) (n int, err error) {
	var end error
	err = s.g.call(&s.g.slow, "reading a snapshot", func() (err error) {
		n, err = s.inner.Read(p)
		if errors.Is(err, io.EOF) {
			end, err = io.EOF, nil
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("snapshot: %w", err)
	}
	return n, end
}

// Close ends the reading. It can be called again.
func (s *guardedSource) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	return s.g.call(&s.g.slow, "closing a snapshot", s.inner.Close)
}

// raftSnapshots is the guarded snapshot store as Raft uses it. Raft goes on
// rightly after an error of all calls but Open, whose error it answers with a
// panic when it restores a snapshot for its user.
type raftSnapshots struct{ guardedSnapshots }

// Open ends the goroutine where the stores are down.
func (s raftSnapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	meta, source, err := s.guardedSnapshots.Open(id)
	return meta, source, exitIfDown(err)
}
