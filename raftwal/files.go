package raftwal

import (
	"errors"
	"os"
	"sync/atomic"

	"github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/types"
)

// files are raft-wal's files with two things put right. A write to a segment,
// which has its size from the beginning, syncs the data but not the time of the
// write, for which a file system would write to its journal. And the name of a
// segment that a crash left is on the disk before anything in it counts: raft-wal
// sees to that only for a segment that it made itself since it was opened.
type files struct{ types.VFS }

func newFiles() types.VFS { return files{fs.New()} }

// Create implements [types.VFS].
func (f files) Create(folder, name string, size uint64) (types.WritableFile, error) {
	inner, err := f.VFS.Create(folder, name, size)
	return newSegmentFile(inner, folder, err)
}

// OpenWriter implements [types.VFS].
func (f files) OpenWriter(folder, name string) (types.WritableFile, error) {
	inner, err := f.VFS.OpenWriter(folder, name)
	return newSegmentFile(inner, folder, err)
}

// A segmentFile is a segment that is written to.
type segmentFile struct {
	types.WritableFile
	fd     uintptr
	folder string
	synced atomic.Bool // once, with its name and its size
}

func newSegmentFile(inner types.WritableFile, folder string, err error) (types.WritableFile, error) {
	if err != nil {
		return nil, err
	}
	onDisk, ok := inner.(interface{ Fd() uintptr })
	if !ok {
		return nil, errors.New("raft-wal gave a segment that is no file of the system")
	}
	return &segmentFile{WritableFile: inner, fd: onDisk.Fd(), folder: folder}, nil
}

// Sync brings what was written to the disk.
func (f *segmentFile) Sync() error {
	if f.synced.Load() {
		return syncData(f.fd, f.WritableFile)
	}
	if err := f.WritableFile.Sync(); err != nil {
		return err
	}
	if err := syncFolder(f.folder); err != nil {
		return err
	}
	f.synced.Store(true)
	return nil
}

// syncFolder brings the names in a folder to the disk.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// writeSynced makes a file with that content, on the disk.
func writeSynced(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
