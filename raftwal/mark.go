package raftwal

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// markText is in the only entry of bolt's log. It has no checksum, so that
// node.BoltStorage refuses it as damaged.
const markText = "the log of this node is in the folder wal: open it with raftwal.Storage"

// isMarked says that the log of the folder was made by this package. A log with
// anything else in it is another storage's.
func isMarked(unused raft.LogStore, dir string) (bool, error) {
	last, err := unused.LastIndex()
	if err != nil || last == 0 {
		return false, err
	}
	var entry raft.Log
	if err := unused.GetLog(last, &entry); err != nil {
		return false, err
	}
	if last != 1 || string(entry.Data) != markText {
		return false, fmt.Errorf("%s: the log of this node is in its bolt file: open it with node.BoltStorage, "+
			"or remove the node from the cluster, empty the folder, and let it join anew", dir)
	}
	return true, nil
}

func mark(unused raft.LogStore) error {
	return unused.StoreLog(&raft.Log{Index: 1, Term: 1, Type: raft.LogCommand, Data: []byte(markText)})
}

// ErrDamaged is what a log that can't be read as it was written matches.
var ErrDamaged = errors.New("damaged")

// damaged says which file is not what was written.
func damaged(name, what string, args ...any) error {
	return fmt.Errorf("%s is %w: %s: remove this node from the cluster, empty its folder, and let it join anew",
		name, ErrDamaged, fmt.Sprintf(what, args...))
}
