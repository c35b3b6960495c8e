package storage

import (
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// guardedLog is the guarded log store as the node uses it.
type guardedLog struct{ g *Guarded }

// FirstIndex returns the first index of the log, 0 if it is empty.
func (l guardedLog) FirstIndex() (index uint64, err error) {
	err = l.g.call(&l.g.quick, "reading the first index", func() (err error) {
		index, err = l.g.inner.Log.FirstIndex()
		return err
	})
	return index, err
}

// LastIndex returns the last index of the log, 0 if it is empty.
func (l guardedLog) LastIndex() (index uint64, err error) {
	err = l.g.call(&l.g.quick, "reading the last index", func() (err error) {
		index, err = l.g.inner.Log.LastIndex()
		return err
	})
	return index, err
}

// GetLog reads an entry, and returns it only if it is as it was stored.
func (l guardedLog) GetLog(index uint64, log *raft.Log) error {
	found := false
	err := l.g.call(&l.g.quick, "reading an entry", func() (err error) {
		found, err = l.g.readEntry(index, log)
		return err
	})
	if err == nil && !found {
		return raft.ErrLogNotFound
	}
	return err
}

// StoreLog stores one entry.
func (l guardedLog) StoreLog(log *raft.Log) error {
	return l.StoreLogs([]*raft.Log{log})
}

// StoreLogs stores entries, which must follow the last one. The leader's own
// get their checksum here, a follower's must have it: it returns a
// [*RejectedError] for entries that were damaged before, and stores none.
func (l guardedLog) StoreLogs(logs []*raft.Log) error {
	if len(logs) == 0 {
		return nil
	}
	if err := l.g.vet(logs); err != nil {
		return l.g.rejected(err)
	}
	began, received := time.Now(), l.g.cfg.Clock.Now()
	err := l.g.call(&l.g.quick, "storing entries", func() error {
		if err := l.g.checkFits(logs[0].Index); err != nil {
			return err
		}
		l.g.stored.note(logs, received)
		return l.g.inner.Log.StoreLogs(logs)
	})
	if err != nil {
		return err
	}
	l.g.truncated.Store(false)
	l.g.writes.note(logs, time.Since(began))
	return nil
}

// DeleteRange deletes the entries from min to max, at either end of the log.
func (l guardedLog) DeleteRange(min, max uint64) error {
	return l.g.call(&l.g.quick, "deleting entries", func() error {
		return l.g.deleteEntries(min, max)
	})
}

// readEntry reads and checks an entry. It tells one that is not there from a hole
// in the log, into which Raft would panic: another goroutine may have stored the
// entry after it was not found, but it can't have come and gone each time.
func (g *Guarded) readEntry(index uint64, log *raft.Log) (found bool, err error) {
	for range 3 {
		err := g.inner.Log.GetLog(index, log)
		if err == nil {
			return true, g.checkRead(index, log)
		}
		if !isNoEntry(err) {
			return false, fmt.Errorf("entry %d: %w", index, err)
		}
		first, last, err := g.bounds()
		if err != nil {
			return false, err
		}
		if last == 0 || index < first || index > last {
			return false, nil
		}
	}
	return false, g.damage("entry %d is missing between others", index)
}

func (g *Guarded) checkRead(index uint64, log *raft.Log) error {
	if log.Index != index {
		return g.damage("in the place of entry %d there is entry %d", index, log.Index)
	}
	if err := checkSeal(log); err != nil {
		return g.damage("entry %d: %v", index, err)
	}
	return nil
}

// checkFits keeps the log without holes. Raft itself would leave one if it took
// entries after it failed to replace those that it had deleted.
func (g *Guarded) checkFits(index uint64) error {
	last, err := g.inner.Log.LastIndex()
	if err != nil {
		return err
	}
	if last != 0 && index != last+1 {
		return fmt.Errorf("entry %d does not follow the last one, %d", index, last)
	}
	return nil
}

func (g *Guarded) deleteEntries(min, max uint64) error {
	first, last, err := g.bounds()
	if err != nil {
		return err
	}
	if min > first && max < last {
		return fmt.Errorf("entries %d to %d are in the midst of the log, %d to %d", min, max, first, last)
	}
	if max >= last {
		g.truncated.Store(true)
	}
	if err := g.inner.Log.DeleteRange(min, max); err != nil {
		return err
	}
	g.stored.erase(min, max)
	return g.checkDeleted(min, max, first, last)
}

// checkDeleted holds the store to what it said it did. Entries may have been
// stored meanwhile, behind those that were deleted at the front.
func (g *Guarded) checkDeleted(min, max, first, last uint64) error {
	nowFirst, nowLast, err := g.bounds()
	if err != nil {
		return err
	}
	atFront := min <= first && nowFirst != 0 && nowFirst <= max
	atEnd := min > first && max >= last && nowLast >= min
	if atFront || atEnd {
		return g.damage("after entries %d to %d were deleted it holds entries %d to %d", min, max, nowFirst, nowLast)
	}
	return nil
}

func (g *Guarded) bounds() (first, last uint64, err error) {
	if first, err = g.inner.Log.FirstIndex(); err != nil {
		return 0, 0, err
	}
	last, err = g.inner.Log.LastIndex()
	return first, last, err
}

func (g *Guarded) damage(format string, args ...any) error {
	return &DamageError{Name: g.inner.Name, What: fmt.Sprintf(format, args...)}
}

// raftLog is the guarded log store as Raft uses it.
type raftLog struct{ log guardedLog }

// IsMonotonic tells Raft that the log takes no holes: after a snapshot from the
// leader it deletes all entries.
func (l raftLog) IsMonotonic() bool { return true }

func (l raftLog) FirstIndex() (uint64, error) {
	index, err := l.log.FirstIndex()
	return index, exitIfDown(err)
}

func (l raftLog) LastIndex() (uint64, error) {
	index, err := l.log.LastIndex()
	return index, exitIfDown(err)
}

func (l raftLog) GetLog(index uint64, log *raft.Log) error {
	return exitIfDown(l.log.GetLog(index, log))
}

func (l raftLog) StoreLog(log *raft.Log) error     { return exitIfDown(l.log.StoreLog(log)) }
func (l raftLog) StoreLogs(logs []*raft.Log) error { return exitIfDown(l.log.StoreLogs(logs)) }
func (l raftLog) DeleteRange(min, max uint64) error {
	return exitIfDown(l.log.DeleteRange(min, max))
}
