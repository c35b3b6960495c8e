package raftwal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"
)

// checkNewest makes sure of the segment that is written to: that nothing which
// was acknowledged is damaged in it, and that nothing but zeros is behind its
// last whole batch. It completes info and returns true if the segment was full.
// One that is not there was never written to.
func checkNewest(folder string, info *types.SegmentInfo) (full bool, err error) {
	path := filepath.Join(folder, segment.FileName(*info))
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: can't be read: %w", path, err)
	}
	scan, err := scanSegment(b)
	if err != nil {
		return false, damaged(path, "%v", err)
	}
	if err := zeroFrom(path, b, scan.end); err != nil {
		return false, fmt.Errorf("%s: what an interrupted write left can't be removed: %w", path, err)
	}
	if scan.index == 0 {
		return false, nil
	}
	info.SealTime, info.IndexStart, info.MaxIndex = time.Now(), uint64(scan.index), info.BaseIndex+scan.entries-1
	return true, nil
}

// zeroFrom sets everything from an offset on to zero, on the disk.
func zeroFrom(path string, b []byte, end int) error {
	last := len(b)
	for last > end && b[last-1] == 0 {
		last--
	}
	if last == end {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(make([]byte, last-end), int64(end))
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
