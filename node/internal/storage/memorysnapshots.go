package storage

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/hashicorp/raft"
)

// retainSnapshots is how many snapshots are kept: one to fall back to.
const retainSnapshots = 2

type memorySnapshot struct {
	meta raft.SnapshotMeta
	data []byte
}

type memorySnapshots struct{ user *memoryUser }

func (s memorySnapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) {
	sink := &memorySink{user: s.user}
	sink.meta = raft.SnapshotMeta{
		Version:            version,
		Index:              index,
		Term:               term,
		Configuration:      configuration.Clone(),
		ConfigurationIndex: configurationIndex,
	}
	err := s.user.use(func(m *memory) error {
		m.created++
		sink.meta.ID = fmt.Sprintf("%d-%d-%d", term, index, m.created)
		return nil
	})
	return sink, err
}

func (s memorySnapshots) List() (metas []*raft.SnapshotMeta, err error) {
	err = s.user.use(func(m *memory) error {
		for _, snapshot := range m.snapshots {
			meta := snapshot.meta
			metas = append(metas, &meta)
		}
		return nil
	})
	return metas, err
}

func (s memorySnapshots) Open(id string) (meta *raft.SnapshotMeta, source io.ReadCloser, err error) {
	err = s.user.use(func(m *memory) error {
		at := slices.IndexFunc(m.snapshots, func(s *memorySnapshot) bool { return s.meta.ID == id })
		if at < 0 {
			return fmt.Errorf("snapshot %s: %w", id, fs.ErrNotExist)
		}
		found := m.snapshots[at].meta
		meta, source = &found, &memorySource{Reader: bytes.NewReader(m.snapshots[at].data)}
		return nil
	})
	return meta, source, err
}

// memorySource is a snapshot being read. It is as strict as a file, so that what
// runs on memory runs on a disk.
type memorySource struct {
	*bytes.Reader
	closed bool
}

// Close ends the reading; a second time it is an error.
func (s *memorySource) Close() error {
	if s.closed {
		return fs.ErrClosed
	}
	s.closed = true
	return nil
}

// memorySink is a snapshot being written. It is not listed before it is closed.
type memorySink struct {
	user *memoryUser
	meta raft.SnapshotMeta
	data bytes.Buffer
	done bool // closed or cancelled; both can be called again
}

func (s *memorySink) ID() string { return s.meta.ID }

func (s *memorySink) Write(p []byte) (n int, err error) {
	err = s.user.use(func(*memory) error {
		n, err = s.data.Write(p)
		return err
	})
	return n, err
}

func (s *memorySink) Close() error {
	return s.user.use(func(m *memory) error {
		if s.done {
			return nil
		}
		s.done = true
		s.meta.Size = int64(s.data.Len())
		m.snapshots = slices.Insert(m.snapshots, 0, &memorySnapshot{meta: s.meta, data: s.data.Bytes()})
		m.snapshots = m.snapshots[:min(len(m.snapshots), retainSnapshots)]
		return nil
	})
}

func (s *memorySink) Cancel() error {
	s.done = true
	return nil
}
