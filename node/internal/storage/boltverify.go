package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// maxSpan is the most bytes that one page with its overflow may have. Entries
// are far smaller; a damaged page must not make the check read all of a disk.
const maxSpan = 64 << 20

// verifyBoltFile reports a bolt file that is not as bolt left it. Bolt maps its
// file into memory and follows what it finds there; pages that are missing or
// torn make it fault or panic, not always on the goroutine that called it.
func verifyBoltFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%s: can't be opened: %w", path, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("%s: can't be looked at: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is not a file", path)
	}
	if err := verifyBolt(file, info.Size()); err != nil {
		var failed *readError
		if errors.As(err, &failed) {
			return fmt.Errorf("%s: can't be read: %w", path, failed.err)
		}
		return &DamageError{Name: path, What: err.Error()}
	}
	return nil
}

// readError is an error of the disk, in contrast to one of what is on it.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

// verifyBolt checks all pages that bolt would follow.
func verifyBolt(file io.ReaderAt, size int64) error {
	meta, err := newestMeta(file, size)
	if err != nil {
		return err
	}
	v := &boltVerifier{file: file, meta: meta, seen: make([]bool, meta.pages)}
	return v.all()
}

// newestMeta returns the newer of the two meta pages. Both must be whole, and
// their commits must follow each other: bolt would fall back to the older one,
// but what that lacks may be a vote or an entry that this node acknowledged.
// (A write that a power cut interrupts leaves the old page or the new one, as
// all of it is in one sector of the disk.)
func newestMeta(file io.ReaderAt, size int64) (boltMeta, error) {
	first, err := readMeta(file, size, 0)
	if err != nil {
		return first, err
	}
	if first.pageSize < minPageSize || first.pageSize > maxPageSize || first.pageSize&(first.pageSize-1) != 0 {
		return first, fmt.Errorf("it has pages of %d bytes", first.pageSize)
	}
	second, err := readMeta(file, size, first.pageSize)
	if err != nil {
		return second, err
	}
	newer, older := first, second
	if second.txid > first.txid {
		newer, older = second, first
	}
	switch {
	case first.pageSize != second.pageSize || newer.txid != older.txid+1:
		return newer, errors.New("its two meta pages do not belong together")
	case newer.pages < 4 || newer.pages > uint64(size)/newer.pageSize:
		return newer, fmt.Errorf("it has %d bytes, but should have %d pages of %d: it was cut short",
			size, newer.pages, newer.pageSize)
	}
	return newer, nil
}

func readMeta(file io.ReaderAt, size int64, at uint64) (boltMeta, error) {
	if uint64(size) < at+pageHead+metaSize {
		return boltMeta{}, fmt.Errorf("it has only %d bytes: it was cut short", size)
	}
	b := make([]byte, pageHead+metaSize)
	if _, err := file.ReadAt(b, int64(at)); err != nil {
		return boltMeta{}, &readError{err}
	}
	if head := parsePageHead(b); head.flags != metaFlag {
		return boltMeta{}, fmt.Errorf("the meta page at byte %d: it is marked as another kind of page (%x)", at, head.flags)
	}
	meta, err := parseMeta(b)
	if err != nil {
		return meta, fmt.Errorf("the meta page at byte %d: %w", at, err)
	}
	return meta, nil
}

// boltVerifier walks the pages of a file.
type boltVerifier struct {
	file io.ReaderAt
	meta boltMeta
	seen []bool // pages that something refers to
	span []byte // used again for each page
}

// The buckets of a file, by their names, and what their elements must be.
var boltBuckets = []struct {
	name string
	keys func(keys [][]byte) error
}{
	{"conf", checkConfKeys},
	{"logs", checkLogKeys},
}

// all checks the buckets and the list of free pages.
func (v *boltVerifier) all() error {
	root := &boltTree{boltVerifier: v}
	if err := root.page(v.meta.root, keyRange{}, 0); err != nil {
		return err
	}
	if len(root.leaves) != len(boltBuckets) {
		return fmt.Errorf("it has %d buckets instead of %d", len(root.leaves), len(boltBuckets))
	}
	for i, bucket := range boltBuckets {
		e := root.leaves[i]
		if string(e.key) != bucket.name || e.flags != bucketFlag {
			return fmt.Errorf("instead of the bucket %s it has %q", bucket.name, e.key)
		}
		if err := v.bucket(e.value, bucket.keys); err != nil {
			return fmt.Errorf("the bucket %s: %w", bucket.name, err)
		}
	}
	return v.freelist()
}

// bucket checks a bucket, of which value is the header. A small one has its
// only page behind the header, without a byte more.
func (v *boltVerifier) bucket(value []byte, check func(keys [][]byte) error) error {
	if len(value) < bucketHead {
		return errors.New("its header is cut short")
	}
	tree := &boltTree{boltVerifier: v, plain: true}
	root, inline := order.Uint64(value), value[bucketHead:]
	var err error
	if root == 0 {
		err = tree.inline(inline)
	} else if err = tree.page(root, keyRange{}, 0); err == nil && len(inline) != 0 {
		err = errors.New("it has a page beside its root")
	}
	if err != nil {
		return err
	}
	keys := make([][]byte, len(tree.leaves))
	for i, e := range tree.leaves {
		keys[i] = e.key
	}
	return check(keys)
}

// checkConfKeys wants what a guard keeps there: all stable values in one.
func checkConfKeys(keys [][]byte) error {
	if len(keys) != 1 || !bytes.Equal(keys[0], keyValues) {
		return errors.New("it does not hold the stable values")
	}
	return nil
}

func checkLogKeys(keys [][]byte) error {
	for i, key := range keys {
		if len(key) != 8 {
			return fmt.Errorf("a key of %d bytes is no index", len(key))
		}
		index := binary.BigEndian.Uint64(key)
		if first := binary.BigEndian.Uint64(keys[0]); index != first+uint64(i) {
			return fmt.Errorf("entry %d is missing", first+uint64(i))
		}
	}
	return nil
}

// freelist checks that each page is either in use or listed as free, and once:
// bolt would write over a page in use that is listed.
func (v *boltVerifier) freelist() error {
	page, err := v.page(v.meta.freelist)
	if err != nil {
		return fmt.Errorf("the list of free pages: %w", err)
	}
	if page.flags != freelistFlag {
		return fmt.Errorf("the list of free pages is of another kind (%x)", page.flags)
	}
	ids := page.bytes[pageHead:]
	count := uint64(page.count)
	if count == 0xFFFF {
		count, ids = order.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids))/8 {
		return fmt.Errorf("the list of free pages is cut short: it should have %d", count)
	}
	for ; count > 0; count, ids = count-1, ids[8:] {
		id := order.Uint64(ids)
		if id < 2 || id >= v.meta.pages || v.seen[id] {
			return fmt.Errorf("page %d is listed as free, but is in use or does not exist", id)
		}
		v.seen[id] = true
	}
	if lost := slices.Index(v.seen[2:], false); lost >= 0 {
		return fmt.Errorf("page %d is neither in use nor listed as free", lost+2)
	}
	return nil
}

// page reads a page with its overflow, which nothing else may have referred to.
// It is valid until the next one is read.
func (v *boltVerifier) page(id uint64) (*boltPage, error) {
	if id < 2 || id >= v.meta.pages {
		return nil, fmt.Errorf("it refers to page %d of %d", id, v.meta.pages)
	}
	head := make([]byte, pageHead)
	if err := v.read(head, id); err != nil {
		return nil, err
	}
	page := parsePageHead(head)
	span := (uint64(page.overflow) + 1) * v.meta.pageSize
	if page.id != id {
		return nil, fmt.Errorf("in the place of page %d there is page %d", id, page.id)
	}
	if id+uint64(page.overflow) >= v.meta.pages || span > maxSpan {
		return nil, fmt.Errorf("page %d goes on over %d more pages", id, page.overflow)
	}
	for i := id; i <= id+uint64(page.overflow); i++ {
		if v.seen[i] {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
		v.seen[i] = true
	}
	v.span = slices.Grow(v.span[:0], int(span))[:span]
	page.bytes = v.span
	return &page, v.read(page.bytes, id)
}

func (v *boltVerifier) read(b []byte, id uint64) error {
	if _, err := v.file.ReadAt(b, int64(id*v.meta.pageSize)); err != nil {
		return &readError{err}
	}
	return nil
}
