package store

import "fmt"

// A batch is entries that share a write, a sync and a look. It takes entries
// until its turn to be written comes.
type batch struct {
	entries []Entry // without places until the turn comes
	index   map[string]int
	done    chan struct{} // closed when err and the entries' places are known
	err     error
}

// entry returns the entry of an id. It is called once done is closed.
func (b *batch) entry(id string) Entry {
	if b.err != nil {
		return Entry{}
	}
	return b.entries[b.index[id]]
}

// join returns the batch that an entry of that id is in, a new one if need be,
// or nil if it was written before.
func (l *Ledger) join(e Entry) (*batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, l.err
	}
	if _, ok := l.byID[e.ID]; ok {
		return nil, nil
	}
	if b, ok := l.waiting[e.ID]; ok {
		return b, nil
	}
	if l.joining == nil {
		l.joining = &batch{index: make(map[string]int), done: make(chan struct{})}
		l.work.Add(1)
		go l.commit()
	}
	b := l.joining
	b.index[e.ID] = len(b.entries)
	b.entries = append(b.entries, e)
	l.waiting[e.ID] = b
	return b, nil
}

// commit writes the batch that is joining when its turn has come.
func (l *Ledger) commit() {
	defer l.work.Done()
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	b, err := l.take()
	if err == nil {
		err = l.write(b)
	}
	l.finish(b, err)
}

// take closes the batch for others and gives its entries their places. Only the
// batch whose turn it is moves the end of the ledger.
func (l *Ledger) take() (*batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.joining
	l.joining = nil
	for i := range b.entries {
		b.entries[i].Seq = uint64(len(l.entries) + i + 1)
		b.entries[i].Epoch = l.folder.epoch
	}
	return b, l.err
}

// write is the writer's half of the rule: durable first, then the look.
func (l *Ledger) write(b *batch) error {
	line, err := encodeLine(b.entries)
	if err != nil {
		return err
	}
	if err := writeDurably(l.file, line); err != nil {
		return err
	}
	return l.folder.look()
}

// finish tells the callers. After a failure the file may end in a torn line, and
// a sync that failed may not fail a second time although the data is gone: so
// the ledger never writes again, and a successor reads what there is.
func (l *Ledger) finish(b *batch, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.settle(b.entries)
	} else {
		err = fmt.Errorf("%s: epoch %d takes no more entries: %w", l.folder.key, l.folder.epoch, err)
		b.err = err
		if l.err == nil {
			l.err = err
		}
		for _, e := range b.entries {
			delete(l.waiting, e.ID)
		}
	}
	close(b.done)
}
