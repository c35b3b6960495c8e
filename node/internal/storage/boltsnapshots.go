package storage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// snapshotTemp is how the name of an unfinished snapshot ends, and metaName the
// file in a snapshot that tells what it is.
const (
	snapshotTemp = ".tmp"
	metaName     = "meta.json"
)

// boltSnapshots is Raft's file snapshot store, with three things put right: it
// also lists a snapshot whose metadata can't be read, instead of passing over
// it as if it had never been; it removes what interrupted snapshots left; and
// the names inside a snapshot's folder are on disk before the snapshot counts.
type boltSnapshots struct {
	*raft.FileSnapshotStore
	folder string
}

func openSnapshots(dir string, logger hclog.Logger) (*boltSnapshots, error) {
	folder := filepath.Join(dir, snapshotsName)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("%s: can't be made: %w", folder, err)
	}
	if err := syncFolder(dir); err != nil {
		return nil, err
	}
	if err := removeUnfinished(folder); err != nil {
		return nil, err
	}
	store, err := raft.NewFileSnapshotStoreWithLogger(dir, retainSnapshots, logger)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	return &boltSnapshots{store, folder}, nil
}

// Create begins a snapshot.
func (s *boltSnapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, trans raft.Transport) (raft.SnapshotSink, error) {
	sink, err := s.FileSnapshotStore.Create(version, index, term, configuration, configurationIndex, trans)
	if err != nil {
		return nil, err
	}
	// Both files of the snapshot have their names by now.
	if err := syncFolder(filepath.Join(s.folder, sink.ID()+snapshotTemp)); err != nil {
		return nil, errors.Join(err, sink.Cancel())
	}
	return sink, nil
}

// List returns the snapshots, the newest first. Of one whose metadata can't be
// read it returns what its name tells.
func (s *boltSnapshots) List() ([]*raft.SnapshotMeta, error) {
	metas, err := s.FileSnapshotStore.List()
	if err != nil {
		return nil, err
	}
	names, err := snapshotNames(s.folder)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !s.hasMeta(name) {
			metas = slices.DeleteFunc(metas, func(m *raft.SnapshotMeta) bool { return m.ID == name.id })
			metas = append(metas, &raft.SnapshotMeta{ID: name.id, Term: name.term, Index: name.index})
		}
	}
	slices.SortFunc(metas, func(a, b *raft.SnapshotMeta) int {
		return cmp.Or(cmp.Compare(b.Term, a.Term), cmp.Compare(b.Index, a.Index), cmp.Compare(b.ID, a.ID))
	})
	return metas, nil
}

// hasMeta reports whether the metadata of a snapshot can be read and agrees
// with its name. It reads what Raft's store reads.
func (s *boltSnapshots) hasMeta(name snapshotName) bool {
	file, err := os.Open(filepath.Join(s.folder, name.id, metaName))
	if err != nil {
		return false
	}
	defer file.Close()
	var meta raft.SnapshotMeta
	if err := json.NewDecoder(file).Decode(&meta); err != nil {
		return false
	}
	return meta.ID == name.id && meta.Term == name.term && meta.Index == name.index &&
		meta.Version >= raft.SnapshotVersionMin && meta.Version <= raft.SnapshotVersionMax
}

// A snapshotName is what the name of a snapshot's folder tells.
type snapshotName struct {
	id          string
	term, index uint64
}

// snapshotNames returns the names of the finished snapshots in a folder, none
// if there is no folder.
func snapshotNames(folder string) ([]snapshotName, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: can't be listed: %w", folder, err)
	}
	var names []snapshotName
	for _, entry := range entries {
		if name, ok := parseSnapshotName(entry.Name()); ok && entry.IsDir() {
			names = append(names, name)
		}
	}
	return names, nil
}

// parseSnapshotName reads a name of the form term-index-milliseconds.
func parseSnapshotName(id string) (name snapshotName, ok bool) {
	parts := strings.Split(id, "-")
	if len(parts) != 3 {
		return snapshotName{}, false
	}
	term, err1 := strconv.ParseUint(parts[0], 10, 64)
	index, err2 := strconv.ParseUint(parts[1], 10, 64)
	_, err3 := strconv.ParseUint(parts[2], 10, 64)
	return snapshotName{id, term, index}, err1 == nil && err2 == nil && err3 == nil
}

// removeUnfinished removes snapshots that were never finished.
func removeUnfinished(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("%s: can't be listed: %w", folder, err)
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), snapshotTemp) {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("%s: an unfinished snapshot, can't be removed: %w", path, err)
		}
	}
	return nil
}
