package store

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// decodeCopy returns the entries of the copy of key and epoch in data, without
// what a crash in the middle of the last write has left of it. Such a torn tail
// was never acknowledged, because the write was not synced. All other damage is
// a [CorruptError].
func decodeCopy(data []byte, key string, epoch uint64) ([]Entry, error) {
	d := decoder{epoch: epoch, ids: make(map[string]bool)}
	for len(data) > 0 {
		line, rest, ended := bytes.Cut(data, []byte{'\n'})
		data = rest
		d.line++
		text, ok := decodeLine(line)
		switch {
		case ok && ended && d.line == 1:
			if err := d.header(text, key); err != nil {
				return nil, err
			}
		case ok && ended:
			if err := d.batch(text); err != nil {
				return nil, err
			}
		case len(rest) == 0 && torn(line, ended) && d.published():
			return d.entries, nil
		default:
			return nil, d.corrupt("the checksum does not match")
		}
	}
	if !d.published() {
		return nil, d.corrupt("the file ends before what was published with it")
	}
	return d.entries, nil
}

// torn reports whether a crash can have made the last line what it is: the line
// lacks its end, or a part of it that never reached the disk, which reads as
// zeros. JSON holds no zero byte. A line that has its end and no zeros was
// written as a whole and damaged later, and it may have been acknowledged.
func torn(line []byte, ended bool) bool {
	return !ended || bytes.IndexByte(line, 0) >= 0
}

type decoder struct {
	epoch   uint64
	line    int
	head    header
	entries []Entry
	ids     map[string]bool
}

// published reports whether all that was published with the copy has been read.
func (d *decoder) published() bool {
	return d.line > 0 && d.head.Format != 0 && uint64(len(d.entries)) >= d.head.Entries
}

func (d *decoder) header(text []byte, key string) error {
	if err := json.Unmarshal(text, &d.head); err != nil {
		return d.corrupt(err.Error())
	}
	switch {
	case d.head.Format != formatVersion:
		return d.corrupt(fmt.Sprintf("format %d, but this program reads %d", d.head.Format, formatVersion))
	case d.head.Key != key || d.head.Epoch != d.epoch:
		return d.corrupt(fmt.Sprintf("it is the copy of %q at epoch %d, but its name says %q at epoch %d",
			d.head.Key, d.head.Epoch, key, d.epoch))
	}
	return nil
}

func (d *decoder) batch(text []byte) error {
	var entries []Entry
	if err := json.Unmarshal(text, &entries); err != nil {
		return d.corrupt(err.Error())
	}
	for _, e := range entries {
		if err := d.entry(e); err != nil {
			return err
		}
	}
	return nil
}

// entry checks what every writer keeps: places without a gap, epochs that never
// go down, an id once, and under the copy's own epoch all that came after its
// publication.
func (d *decoder) entry(e Entry) error {
	last := Entry{}
	if len(d.entries) > 0 {
		last = d.entries[len(d.entries)-1]
	}
	switch {
	case e.Seq != last.Seq+1:
		return d.corrupt(fmt.Sprintf("entry %d follows entry %d", e.Seq, last.Seq))
	case e.Epoch < last.Epoch || e.Epoch > d.epoch || e.Epoch == 0:
		return d.corrupt(fmt.Sprintf("entry %d of epoch %d follows one of epoch %d", e.Seq, e.Epoch, last.Epoch))
	case uint64(len(d.entries)) >= d.head.Entries && e.Epoch != d.epoch:
		return d.corrupt(fmt.Sprintf("entry %d of epoch %d was appended at epoch %d", e.Seq, e.Epoch, d.epoch))
	case d.ids[e.ID]:
		return d.corrupt(fmt.Sprintf("entry %d has the id %q of an earlier one", e.Seq, e.ID))
	}
	d.ids[e.ID] = true
	d.entries = append(d.entries, e)
	return nil
}

func (d *decoder) corrupt(reason string) error {
	return &CorruptError{Line: d.line, Reason: reason}
}
