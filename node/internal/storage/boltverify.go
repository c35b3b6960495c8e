package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// maxSpan is the most bytes that one page with its overflow may have. Entries
// are far smaller; a damaged page must not make the check read all of a disk.
const maxSpan = 64 << 20

// maxDepth is the most levels of a tree, which is far beyond any file's size.
const maxDepth = 64

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
	if err := v.bucket(meta.root, 0, checkBuckets); err != nil {
		return err
	}
	if meta.freelist != noFreelist {
		return v.freelist()
	}
	return nil
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
	case newer.pages < 3 || newer.pages > uint64(size)/newer.pageSize:
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

// leafCheck judges an element of a leaf.
type leafCheck func(v *boltVerifier, e boltElement) error

// bucket checks the tree of pages under a root.
func (v *boltVerifier) bucket(root uint64, depth int, check leafCheck) error {
	return v.tree(root, keyRange{}, depth, check)
}

// keyRange is where the keys of a subtree must be; nil is no bound.
type keyRange struct{ from, below []byte }

// tree checks a page and all below it.
func (v *boltVerifier) tree(id uint64, keys keyRange, depth int, check leafCheck) error {
	if depth > maxDepth {
		return fmt.Errorf("page %d: it is too deep in its tree", id)
	}
	page, err := v.page(id)
	if err != nil {
		return err
	}
	switch page.flags {
	case leafFlag:
		err = v.leaf(page, keys, check)
	case branchFlag:
		return v.branch(page, keys, depth, check)
	default:
		err = fmt.Errorf("it is of an unknown kind (%x)", page.flags)
	}
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

func (v *boltVerifier) leaf(page *boltPage, keys keyRange, check leafCheck) error {
	elements, err := v.elements(page, keys)
	if err != nil {
		return err
	}
	for _, e := range elements {
		if err := check(v, e); err != nil {
			return err
		}
	}
	return nil
}

func (v *boltVerifier) branch(page *boltPage, keys keyRange, depth int, check leafCheck) error {
	elements, err := v.elements(page, keys)
	if err == nil && len(elements) == 0 {
		err = errors.New("it is an empty branch")
	}
	if err != nil {
		return fmt.Errorf("page %d: %w", page.id, err)
	}
	for i, e := range elements {
		under := keyRange{from: e.key, below: keys.below}
		if i+1 < len(elements) {
			under.below = elements[i+1].key
		}
		if err := v.tree(e.child, under, depth+1, check); err != nil {
			return err
		}
	}
	return nil
}

// elements reads the elements of a page. Their keys must rise within the range.
// What it returns stays valid when another page is read.
func (v *boltVerifier) elements(page *boltPage, keys keyRange) ([]boltElement, error) {
	elements := make([]boltElement, 0, min(int(page.count), len(page.bytes)/elementSize))
	least := keys.from
	for i := range int(page.count) {
		e, err := page.element(i)
		if err != nil {
			return nil, err
		}
		c := bytes.Compare(least, e.key)
		if c > 0 || (c == 0 && i > 0) || (keys.below != nil && bytes.Compare(e.key, keys.below) >= 0) {
			return nil, fmt.Errorf("element %d has its key in the wrong place", i)
		}
		least = e.key
		elements = append(elements, e)
	}
	for i := range elements {
		elements[i].key = slices.Clone(elements[i].key)
		if elements[i].flags&bucketFlag != 0 {
			elements[i].value = slices.Clone(elements[i].value)
		}
	}
	return elements, nil
}

// page reads a page with its overflow, which nothing else may have referred to.
// It is valid until the next one is read.
func (v *boltVerifier) page(id uint64) (*boltPage, error) {
	if id < 2 || id >= v.meta.pages {
		return nil, fmt.Errorf("a page refers to page %d of %d", id, v.meta.pages)
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
		return nil, fmt.Errorf("page %d: it goes on over %d more pages", id, page.overflow)
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

// checkBuckets judges an element of the root: it must be a bucket.
func checkBuckets(v *boltVerifier, e boltElement) error {
	if e.flags != bucketFlag || len(e.value) < bucketHead {
		return fmt.Errorf("%q is no bucket", e.key)
	}
	if root := order.Uint64(e.value); root != 0 {
		return v.bucket(root, 1, checkPlain)
	}
	return v.inline(e.value[bucketHead:])
}

// inline checks a small bucket, whose page is in the value of its element.
func (v *boltVerifier) inline(b []byte) error {
	if len(b) < pageHead {
		return errors.New("a small bucket is cut short")
	}
	page := parsePageHead(b)
	page.bytes = b
	if page.flags != leafFlag || page.id != 0 || page.overflow != 0 {
		return fmt.Errorf("a small bucket has page %d of an unknown kind (%x)", page.id, page.flags)
	}
	return v.leaf(&page, keyRange{}, checkPlain)
}

// checkPlain judges an element of a bucket, in which there are no others.
func checkPlain(_ *boltVerifier, e boltElement) error {
	if e.flags != 0 {
		return fmt.Errorf("%q is of an unknown kind (%x)", e.key, e.flags)
	}
	return nil
}

// freelist checks that no page is listed as free which is in use: bolt would
// write over it.
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
	return nil
}
