package virtual

import (
	"io"
	"slices"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// A flip is a bit that is wrong in what a disk has kept. It shows in what is
// read, and nothing else does.
type flip struct {
	of       part
	entry    uint64 // index of the entry
	snapshot string // id of the snapshot
	field    int    // which of its fields
	place    int    // of the byte or the bit, modulo their number
	bit      int    // in the byte
}

// A part is one of what a disk keeps.
type part string

const (
	inEntry    part = "an entry of the log"
	inStable   part = "a stable value"
	inSnapshot part = "the newest snapshot"
)

// Flip flips a bit of what the disk has kept, while nobody has it open, and
// returns of what: "" if it has neither entries nor snapshots. The returned
// function flips it back.
func (d *Disk) Flip() (of part, back func(), err error) {
	stores, err := d.kept.Open(hclog.NewNullLogger())
	if err != nil {
		return "", nil, err
	}
	defer stores.Close()
	f := &flip{of: inStable, field: d.draw(5), place: d.draw(1 << 20), bit: d.draw(8)}
	first, err := stores.Log.FirstIndex()
	if err != nil {
		return "", nil, err
	}
	last, err := stores.Log.LastIndex()
	if err != nil {
		return "", nil, err
	}
	snapshots, err := stores.Snapshots.List()
	if err != nil {
		return "", nil, err
	}
	switch choice := d.draw(4); {
	case last == 0 && len(snapshots) == 0:
		return "", func() {}, nil
	case choice < 2 && last > 0:
		f.of, f.entry = inEntry, first+uint64(d.draw(int(last-first+1)))
	case choice == 2 && len(snapshots) > 0:
		f.of, f.snapshot = inSnapshot, snapshots[0].ID
	}
	d.setFlip(f)
	return f.of, func() { d.setFlip(nil) }, nil
}

func (d *Disk) setFlip(f *flip) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flip = f
}

// flipped returns the flip of a part, nil if there is none.
func (d *Disk) flipped(of part) *flip {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.flip == nil || d.flip.of != of {
		return nil
	}
	return d.flip
}

func (f *flip) bytes(b []byte) []byte {
	if len(b) == 0 {
		return b
	}
	b = slices.Clone(b)
	b[f.place%len(b)] ^= 1 << f.bit
	return b
}

func (f *flip) number(n uint64) uint64 { return n ^ 1<<(f.place%64) }

// inEntry flips the bit in an entry, which may have no data.
func (f *flip) inEntry(entry *raft.Log) {
	switch {
	case f.field == 0:
		entry.Index = f.number(entry.Index)
	case f.field == 1:
		entry.Term = f.number(entry.Term)
	case f.field == 2:
		entry.Type ^= 1 << f.bit
	case f.field == 3 || len(entry.Data) == 0:
		entry.Extensions = f.bytes(entry.Extensions)
	default:
		entry.Data = f.bytes(entry.Data)
	}
}

// inMeta flips the bit in what is known of a snapshot, unless it is in its
// content.
func (f *flip) inMeta(meta *raft.SnapshotMeta) {
	if meta.ID != f.snapshot {
		return
	}
	switch f.field {
	case 0:
		meta.Index = f.number(meta.Index)
	case 1:
		meta.Term = f.number(meta.Term)
	case 2:
		meta.ConfigurationIndex = f.number(meta.ConfigurationIndex)
	}
}

// inContent returns a snapshot's content with the bit flipped, if it is there.
func (f *flip) inContent(meta *raft.SnapshotMeta, content io.ReadCloser) io.ReadCloser {
	if meta.ID != f.snapshot || f.field <= 2 || meta.Size == 0 {
		return content
	}
	return &flippedContent{content, int64(f.place) % meta.Size, 1 << f.bit}
}

type flippedContent struct {
	io.ReadCloser
	left int64 // bytes before the one with the bit
	bit  byte
}

// Read implements io.Reader.
func (c *flippedContent) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if c.left >= 0 && c.left < int64(n) {
		p[c.left] ^= c.bit
	}
	c.left -= int64(n)
	return n, err
}
