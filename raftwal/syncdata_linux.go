package raftwal

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/hashicorp/raft-wal/types"
)

// syncData brings the file's data to the disk, and of the rest only what is
// needed to read it back.
func syncData(fd uintptr, _ types.WritableFile) error {
	for {
		err := unix.Fdatasync(int(fd))
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
