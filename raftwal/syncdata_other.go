//go:build !linux

package raftwal

import "github.com/hashicorp/raft-wal/types"

// syncData brings the file to the disk.
func syncData(_ uintptr, file types.WritableFile) error { return file.Sync() }
