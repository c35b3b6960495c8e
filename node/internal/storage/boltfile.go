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
	sum := fnv.New64a()
	sum.Write(m[:56])
	if order.Uint64(m[56:]) != sum.Sum64() {
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

// element reads element i of a leaf or a branch, within the bounds of the page.
func (p *boltPage) element(i int) (e boltElement, err error) {
	at := uint64(pageHead + i*elementSize)
	if at+elementSize > uint64(len(p.bytes)) {
		return e, fmt.Errorf("element %d is beyond its page", i)
	}
	b := p.bytes[at : at+elementSize]
	var pos, keySize, valueSize uint64
	if p.flags == leafFlag {
		e.flags = order.Uint32(b[0:])
		pos, keySize, valueSize = uint64(order.Uint32(b[4:])), uint64(order.Uint32(b[8:])), uint64(order.Uint32(b[12:]))
	} else {
		pos, keySize, e.child = uint64(order.Uint32(b[0:])), uint64(order.Uint32(b[4:])), order.Uint64(b[8:])
	}
	from, to := at+pos, at+pos+keySize+valueSize
	if pos < elementSize || to > uint64(len(p.bytes)) || keySize == 0 || keySize > maxBoltKey {
		return e, fmt.Errorf("element %d has a key and a value beyond its page", i)
	}
	e.key, e.value = p.bytes[from:from+keySize], p.bytes[from+keySize:to]
	return e, nil
}
