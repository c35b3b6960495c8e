package storage

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// maxDepth is the most levels of a tree, which is far beyond any file's size.
const maxDepth = 64

// boltTree walks the tree of pages of one bucket and collects its elements.
type boltTree struct {
	*boltVerifier
	plain  bool          // no element may be a bucket
	leaves []boltElement // in order; values are kept only of buckets
}

// keyRange is where the keys of a subtree must be; nil is no bound.
type keyRange struct{ from, below []byte }

// page checks a page and all below it.
func (t *boltTree) page(id uint64, keys keyRange, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("page %d is too deep in its tree", id)
	}
	page, err := t.boltVerifier.page(id)
	if err != nil {
		return err
	}
	elements, err := t.elements(page, keys)
	switch {
	case err != nil:
	case page.flags == branchFlag:
		return t.children(elements, keys, depth)
	case len(elements) == 0 && depth > 0:
		err = errors.New("it is empty")
	default:
		err = t.keep(elements)
	}
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// children checks the subtrees of a branch.
func (t *boltTree) children(elements []boltElement, keys keyRange, depth int) error {
	for i, e := range elements {
		under := keyRange{from: e.key, below: keys.below}
		if i+1 < len(elements) {
			under.below = elements[i+1].key
		}
		if err := t.page(e.child, under, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// inline checks the page of a small bucket.
func (t *boltTree) inline(b []byte) error {
	if len(b) < pageHead {
		return errors.New("its page is cut short")
	}
	page := parsePageHead(b)
	page.bytes = b
	if page.flags != leafFlag || page.id != 0 || page.overflow != 0 {
		return fmt.Errorf("its page is page %d of an unknown kind (%x)", page.id, page.flags)
	}
	elements, used, err := page.elements()
	if err == nil && used != uint64(len(b)) {
		err = fmt.Errorf("its page has %d bytes and uses %d", len(b), used)
	}
	if err == nil {
		err = checkOrder(elements, keyRange{})
	}
	if err != nil {
		return err
	}
	return t.keep(elements)
}

// elements reads the elements of a page, which stay valid when another page is
// read.
func (t *boltTree) elements(page *boltPage, keys keyRange) ([]boltElement, error) {
	if page.flags != leafFlag && page.flags != branchFlag {
		return nil, fmt.Errorf("it is of an unknown kind (%x)", page.flags)
	}
	elements, used, err := page.elements()
	if err != nil {
		return nil, err
	}
	// Bolt leaves the rest of a page empty. For a page without elements that
	// is all there is to tell whether it should have some.
	empty := page.count == 0
	if empty && (page.flags == branchFlag || slices.ContainsFunc(page.bytes[used:], func(b byte) bool { return b != 0 })) {
		return nil, errors.New("it has lost its elements")
	}
	for i := range elements {
		e := &elements[i]
		e.key = slices.Clone(e.key)
		if e.flags == bucketFlag {
			e.value = slices.Clone(e.value)
		} else {
			e.value = nil
		}
	}
	return elements, checkOrder(elements, keys)
}

// keep collects the elements of a leaf.
func (t *boltTree) keep(elements []boltElement) error {
	for _, e := range elements {
		if e.flags > bucketFlag || (t.plain && e.flags != 0) {
			return fmt.Errorf("%q is of an unknown kind (%x)", e.key, e.flags)
		}
	}
	t.leaves = append(t.leaves, elements...)
	return nil
}

// checkOrder reports keys that do not rise within their range.
func checkOrder(elements []boltElement, keys keyRange) error {
	least := keys.from
	for i, e := range elements {
		c := bytes.Compare(least, e.key)
		if c > 0 || (c == 0 && i > 0) || (keys.below != nil && bytes.Compare(e.key, keys.below) >= 0) {
			return fmt.Errorf("element %d has a key out of order", i)
		}
		least = e.key
	}
	return nil
}
