package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// A Ledger is a key's ledger as one tenure writes it. It can be used
// concurrently; entries that are appended at the same time share a write and a
// sync.
type Ledger struct {
	folder folder
	file   file
	turn   chan struct{}  // held by the one batch that is being written
	work   sync.WaitGroup // batches that are not finished

	mu      sync.Mutex
	entries []Entry           // durable, and not sealed when looked at since: these are there for good
	byID    map[string]int    // index in entries
	joining *batch            // takes entries, nil if there is none
	waiting map[string]*batch // of the entries that are not in entries yet
	err     error             // why the ledger takes no more entries
}

func newLedger(f folder, copied file, entries []Entry) *Ledger {
	l := &Ledger{folder: f, file: copied, turn: make(chan struct{}, 1), byID: make(map[string]int), waiting: make(map[string]*batch)}
	l.settle(entries)
	return l
}

// Append adds an entry under the writer's own id for it and returns it with its
// place. nil means that it is durable, once, and will not be lost. An id that
// the ledger holds already gives the entry that it names, so that an append of
// unknown outcome can be retried, here or at another tenure.
//
// It blocks for as long as the disk takes, or until ctx ends. After an error
// that is not a [tenure.InvalidError], a [ConflictError] or [ErrClosed], the
// entry may be in the ledger or not. After a [SealedError] or an error of the
// file system the ledger takes nothing more: close it, release the lease and
// acquire it again.
func (l *Ledger) Append(ctx context.Context, id, text string) (Entry, error) {
	asked := Entry{ID: id, Text: text}
	if err := asked.validate(l.folder.key); err != nil {
		return Entry{}, err
	}
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	b, err := l.join(asked)
	if err != nil {
		return Entry{}, err
	}
	entry, err := l.settled(ctx, b, id)
	if err != nil {
		return Entry{}, err
	}
	if entry.Text != text {
		return Entry{}, &ConflictError{Key: l.folder.key, ID: id, Seq: entry.Seq}
	}
	return entry, nil
}

// settled returns the entry of an id once it is there for good, and nobody has
// sealed the ledger before this was called. b is the batch that it is in, nil if
// that was written before.
func (l *Ledger) settled(ctx context.Context, b *batch, id string) (Entry, error) {
	if b == nil {
		l.mu.Lock()
		entry := l.entries[l.byID[id]]
		l.mu.Unlock()
		return entry, l.confirm()
	}
	select {
	case <-b.done:
		return b.entry(id), b.err
	case <-ctx.Done():
		return Entry{}, fmt.Errorf("%s: entry %q may be appended or not, retry it under the same id: %w", l.folder.key, id, ctx.Err())
	}
}

// Entries returns the ledger, which the caller must not change. nil means that
// no tenure of a higher epoch had begun to read it when Entries was called, so
// that all that was acknowledged until then is in it.
func (l *Ledger) Entries(ctx context.Context) ([]Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	entries := l.entries[:len(l.entries):len(l.entries)]
	l.mu.Unlock()
	return entries, l.confirm()
}

// Close waits for the entries that are being written, however long the disk
// takes, and closes the file. It says nothing of the lease.
func (l *Ledger) Close() error {
	l.mu.Lock()
	if errors.Is(l.err, ErrClosed) {
		l.mu.Unlock()
		return nil
	}
	l.err = l.closed(l.err)
	l.mu.Unlock()
	l.work.Wait()
	return l.file.Close()
}

func (l *Ledger) closed(cause error) error {
	if cause == nil {
		return fmt.Errorf("%s: epoch %d: %w", l.folder.key, l.folder.epoch, ErrClosed)
	}
	return fmt.Errorf("%s: epoch %d: %w after: %w", l.folder.key, l.folder.epoch, ErrClosed, cause)
}

// confirm is the look before an acknowledgement of what is durable already. It
// is needed also for entries that were read at the takeover: one that a frozen
// writer landed after a higher epoch had read the same copy is among them, and
// must not be told to anyone.
func (l *Ledger) confirm() error {
	l.mu.Lock()
	err := l.err
	l.mu.Unlock()
	if err != nil {
		return err
	}
	return l.folder.look()
}

// settle takes in what is there for good. The caller holds mu, or has the
// ledger for itself.
func (l *Ledger) settle(entries []Entry) {
	for _, e := range entries {
		l.byID[e.ID] = len(l.entries)
		l.entries = append(l.entries, e)
		delete(l.waiting, e.ID)
	}
}
