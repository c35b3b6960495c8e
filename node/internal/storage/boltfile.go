package storage

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
)

// The format of a bolt file, as far as it has to be known to tell whether bolt
// can read it without faulting. A file is an array of pages, in the byte order
// of the machine. The first two pages are meta pages, written in turn; the
// newer one names the root of a tree of pages and the list of free pages.
const (
	boltMagic    = 0xED0CDAED
	boltVersion  = 2
	noFreelist   = ^uint64(0)
	minPageSize  = 1 << 10
	maxPageSize  = 1 << 24
	pageHead     = 16 // id, flags, count, overflow
	elementSize  = 16 // of a leaf or a branch
	metaSize     = 64
	bucketHead   = 16 // root and sequence
	maxBoltKey   = 32768
	bucketFlag   = 1 // of a leaf's element
	branchFlag   = 0x01
	leafFlag     = 0x02
	metaFlag     = 0x04
	freelistFlag = 0x10
)

var order = binary.NativeEndian

// boltMeta is a meta page.
type boltMeta struct {
	pageSize uint64
	root     uint64 // page of the root bucket
	freelist uint64 // page of the list of free pages, or noFreelist
	pages    uint64 // all pages are below this one
	txid     uint64 // the commit that wrote it
}

// parseMeta reads the meta page that b begins with.
func parseMeta(b []byte) (meta boltMeta, err error) {
	if len(b) < pageHead+metaSize {
		return meta, fmt.Errorf("only %d bytes of it are there", len(b))
	}
	m := b[pageHead : pageHead+metaSize]
	if magic := order.Uint32(m[0:]); magic != boltMagic {
		return meta, fmt.Errorf("it has the magic number %08x instead of %08x", magic, uint32(boltMagic))
	}
	if version := order.Uint32(m[4:]); version != boltVersion {
		return meta, fmt.Errorf("it has version %d instead of %d", version, boltVersion)
	}
	if order.Uint64(m[metaSize-8:]) != sumMeta(m) {
		return meta, errBadSeal
	}
	return boltMeta{
		pageSize: uint64(order.Uint32(m[8:])),
		root:     order.Uint64(m[16:]),
		freelist: order.Uint64(m[32:]),
		pages:    order.Uint64(m[40:]),
		txid:     order.Uint64(m[48:]),
	}, nil
}

// sumMeta computes the checksum of a meta page.
func sumMeta(m []byte) uint64 {
	sum := fnv.New64a()
	sum.Write(m[:metaSize-8])
	return sum.Sum64()
}

// boltPage is a page with what overflows it into the pages behind.
type boltPage struct {
	id       uint64
	flags    uint16
	count    uint16
	overflow uint32 // pages behind it that belong to it
	bytes    []byte // all of it
}

// parsePageHead reads the head of a page.
func parsePageHead(b []byte) boltPage {
	return boltPage{
		id:       order.Uint64(b[0:]),
		flags:    order.Uint16(b[8:]),
		count:    order.Uint16(b[10:]),
		overflow: order.Uint32(b[12:]),
	}
}

// boltElement is one of a page's elements.
type boltElement struct {
	key   []byte
	value []byte // of a leaf
	flags uint32 // of a leaf
	child uint64 // of a branch
}

// elements reads the elements of a leaf or a branch, and returns how many bytes
// of the page they fill. Bolt packs keys and values behind the elements, in
// their order and without gaps; an element too few or too many shows by that.
func (p *boltPage) elements() (elements []boltElement, used uint64, err error) {
	used = pageHead + uint64(p.count)*elementSize
	if used > uint64(len(p.bytes)) {
		return nil, 0, fmt.Errorf("it can't hold the %d elements that it should", p.count)
	}
	elements = make([]boltElement, p.count)
	for i := range elements {
		at := uint64(pageHead + i*elementSize)
		e, pos, keySize, valueSize := p.parseElement(p.bytes[at : at+elementSize])
		if at+pos != used || keySize == 0 || keySize > maxBoltKey || used+keySize+valueSize > uint64(len(p.bytes)) {
			return nil, 0, fmt.Errorf("element %d has its key or its value in the wrong place", i)
		}
		e.key = p.bytes[used : used+keySize]
		e.value = p.bytes[used+keySize : used+keySize+valueSize]
		used += keySize + valueSize
		elements[i] = e
	}
	return elements, used, nil
}

func (p *boltPage) parseElement(b []byte) (e boltElement, pos, keySize, valueSize uint64) {
	if p.flags == leafFlag {
		e.flags = order.Uint32(b[0:])
		return e, uint64(order.Uint32(b[4:])), uint64(order.Uint32(b[8:])), uint64(order.Uint32(b[12:]))
	}
	e.child = order.Uint64(b[8:])
	return e, uint64(order.Uint32(b[0:])), uint64(order.Uint32(b[4:])), 0
}
