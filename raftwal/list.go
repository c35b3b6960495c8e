package raftwal

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft-wal/types"
)

// What the list of segments is called in the log's folder.
const (
	listName    = "segments.json"
	listNewName = "segments.json.new"
)

// A segmentList is the list of the log's segments: JSON behind a line with its
// checksum, replaced as a whole.
type segmentList struct{ folder string }

var _ types.MetaStore = (*segmentList)(nil)

func (l *segmentList) exists() (bool, error) {
	_, err := os.Lstat(filepath.Join(l.folder, listName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Load implements [types.MetaStore]. It makes sure of the newest segment before
// raft-wal sees it.
func (l *segmentList) Load(string) (types.PersistentState, error) {
	state, err := l.read()
	if err != nil || len(state.Segments) == 0 {
		return state, err
	}
	newest := &state.Segments[len(state.Segments)-1]
	if !newest.SealTime.IsZero() {
		return state, damaged(filepath.Join(l.folder, listName), "it names no segment to write to")
	}
	sealed, err := checkNewest(l.folder, newest)
	if err != nil || !sealed {
		return state, err
	}
	// A crash came between the last write to a segment and the beginning of
	// the next one, which raft-wal can't make up for.
	addNext(&state)
	return state, l.CommitState(state)
}

// addNext adds a segment after one that was sealed just now.
func addNext(state *types.PersistentState) {
	last := state.Segments[len(state.Segments)-1]
	state.Segments = append(state.Segments, types.SegmentInfo{
		ID: state.NextSegmentID, BaseIndex: last.MaxIndex + 1, MinIndex: last.MaxIndex + 1,
		Codec: last.Codec, SizeLimit: last.SizeLimit, CreateTime: time.Now(),
	})
	state.NextSegmentID++
}

func (l *segmentList) read() (state types.PersistentState, err error) {
	path := filepath.Join(l.folder, listName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err != nil {
		return state, fmt.Errorf("%s: can't be read: %w", path, err)
	}
	const sumLine = 8 + 1
	if len(b) < sumLine || string(b[:sumLine]) != sumOf(b[sumLine:]) {
		return state, damaged(path, "its checksum does not match")
	}
	if err := json.Unmarshal(b[sumLine:], &state); err != nil {
		return state, damaged(path, "%v", err)
	}
	return state, nil
}

// CommitState implements [types.MetaStore].
func (l *segmentList) CommitState(state types.PersistentState) error {
	b, err := json.Marshal(state)
	if err != nil {
		return err
	}
	fresh := filepath.Join(l.folder, listNewName)
	if err := writeSynced(fresh, append([]byte(sumOf(b)), b...)); err != nil {
		return err
	}
	if err := os.Rename(fresh, filepath.Join(l.folder, listName)); err != nil {
		return err
	}
	return syncFolder(l.folder)
}

func sumOf(b []byte) string { return fmt.Sprintf("%08x\n", crc32.Checksum(b, castagnoli)) }

// errNoStable is the answer to what nobody asks: the vote is in the bolt file.
var errNoStable = errors.New("the list of segments keeps no stable values")

// GetStable implements [types.MetaStore].
func (l *segmentList) GetStable([]byte) ([]byte, error) { return nil, errNoStable }

// SetStable implements [types.MetaStore].
func (l *segmentList) SetStable(_, _ []byte) error { return errNoStable }

// Close implements [types.MetaStore].
func (l *segmentList) Close() error { return nil }
