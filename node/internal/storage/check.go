package storage

import (
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/raft"
)

// keyCurrentTerm is where Raft keeps its term. It has one as soon as it has
// anything else.
var keyCurrentTerm = []byte("CurrentTerm")

// Check reads everything that is stored and reports what is damaged or missing,
// as a [*DamageError] where it can be told. It is called once, before Raft gets
// the stores, and takes about a microsecond an entry and a second a gigabyte.
//
// Raft by itself would start with an older snapshot where it can't read the
// newest, and never look whether its log still holds all that came between.
// Check makes sure that it does; the snapshots that can't be read are not
// listed to Raft any more. A snapshot that came from the leader and whose
// installation was interrupted before the log was emptied is completed.
func (g *Guarded) Check() error {
	term, err := g.checkStable()
	if err != nil {
		return err
	}
	base, broken, err := g.checkSnapshots()
	if err != nil {
		return err
	}
	log, err := g.checkLog()
	if err != nil {
		return err
	}
	if newest := max(log.term, base.Term); term < newest {
		return g.damage("its current term is %d, though something of term %d is stored", term, newest)
	}
	if err := g.checkCover(base.Index, broken, log); err != nil {
		return err
	}
	if log.last == 0 || log.last >= base.Index {
		return nil
	}
	err = g.ForNode().Log.DeleteRange(log.first, log.last)
	g.truncated.Store(false) // Raft has not started yet
	return err
}

// checkStable reads the stable values and returns the current term.
func (g *Guarded) checkStable() (term uint64, err error) {
	term, err = g.ForNode().Stable.GetUint64(keyCurrentTerm)
	if isAbsent(err) {
		return 0, nil
	}
	return term, err
}

// brokenSnapshot is one that can't be read.
type brokenSnapshot struct {
	index uint64
	why   string
}

// checkSnapshots returns the newest snapshot that can be read, the zero one if
// there is none, and the newer ones that can't, which it hides from Raft.
func (g *Guarded) checkSnapshots() (base raft.SnapshotMeta, broken []brokenSnapshot, err error) {
	snapshots := guardedSnapshots{g}
	all, err := snapshots.all()
	if err != nil {
		return base, nil, err
	}
	for _, meta := range all {
		unusable, err := g.probe(meta.ID)
		if err != nil {
			return base, nil, err
		}
		if unusable == nil {
			return *meta, broken, nil
		}
		broken = append(broken, brokenSnapshot{meta.Index, fmt.Sprintf("snapshot %s: %v", meta.ID, unusable)})
		g.hide(meta.ID)
	}
	return base, broken, nil
}

// probe returns why a snapshot can't be read, or nil.
func (g *Guarded) probe(id string) (unusable, err error) {
	err = g.call(&g.slow, "checking a snapshot", func() error {
		meta, source, err := openSealed(g.inner.Snapshots, id)
		if err != nil {
			unusable = err
			return nil
		}
		defer source.Close()
		size, err := io.Copy(io.Discard, source)
		if err == nil && size != meta.Size {
			err = fmt.Errorf("it has %d bytes instead of %d", size, meta.Size)
		}
		unusable = err
		return nil
	})
	return unusable, err
}

func (g *Guarded) hide(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hidden[id] = struct{}{}
}

// logExtent is what the log holds.
type logExtent struct {
	first, last uint64 // 0 if it is empty
	term        uint64 // of the last entry
}

// checkLog reads all entries.
func (g *Guarded) checkLog() (log logExtent, err error) {
	store := g.ForNode().Log
	if log.first, err = store.FirstIndex(); err != nil {
		return log, err
	}
	if log.last, err = store.LastIndex(); err != nil || log.last == 0 {
		return log, err
	}
	var before *raft.Log
	for index := log.first; index <= log.last; index++ {
		entry := new(raft.Log)
		if err := store.GetLog(index, entry); err != nil {
			return log, err
		}
		if err := g.checkEntry(before, entry); err != nil {
			return log, g.damage("entry %d: %v", index, err)
		}
		before = entry
	}
	log.term = before.Term
	return log, nil
}

// checkCover reports a gap between the snapshot that Raft will start from, at
// base, and the log, and a log that lacks what only broken snapshots hold.
func (g *Guarded) checkCover(base uint64, broken []brokenSnapshot, log logExtent) error {
	var causes []string
	needed := uint64(0) // the last index that something stored is known to have reached
	for _, b := range broken {
		needed = max(needed, b.index)
		causes = append(causes, b.why)
	}
	reason := ""
	if len(causes) > 0 {
		reason = ": " + strings.Join(causes, "; ")
	}
	switch {
	case log.last != 0 && log.first > base+1:
		return g.damage("entries %d to %d are neither in a snapshot nor in the log%s", base+1, log.first-1, reason)
	case needed > base && log.last < needed:
		return g.damage("entries %d to %d are in no snapshot that can be read, nor in the log%s", max(base, log.last)+1, needed, reason)
	}
	return nil
}
