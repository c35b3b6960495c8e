package storage

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// boltBytes is a bolt file whose damage has right checksums in the meta pages,
// as if bolt itself had written it.
type boltBytes struct {
	t    *testing.T
	file []byte
	size int // of a page
	meta boltMeta
}

func newBoltBytes(t *testing.T) *boltBytes {
	t.Helper()
	path := filepath.Join(quickDir(t), boltName)
	if err := makeBolt(path); err != nil {
		t.Fatal(err)
	}
	bolt, err := openBolt(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{bolt.StoreLogs(commands(1, 300, 1)), bolt.DeleteRange(1, 50), bolt.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b := &boltBytes{t: t, size: os.Getpagesize()}
	if b.file, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if b.meta, err = newestMeta(bytes.NewReader(b.file), int64(len(b.file))); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *boltBytes) verify() error {
	return verifyBolt(bytes.NewReader(b.file), int64(len(b.file)))
}

func (b *boltBytes) page(id uint64) []byte {
	return b.file[id*uint64(b.size) : (id+1)*uint64(b.size)]
}

// setMeta changes the newest meta page.
func (b *boltBytes) setMeta(change func(m []byte)) {
	m := b.page(b.meta.txid % 2)[pageHead : pageHead+metaSize]
	change(m)
	order.PutUint64(m[metaSize-8:], sumMeta(m))
}

// root returns the page with the buckets.
func (b *boltBytes) root() []byte { return b.page(b.meta.root) }

// logs returns the root page of the log, which is a branch.
func (b *boltBytes) logs() []byte {
	root := parsePageHead(b.root())
	root.bytes = b.root()
	elements, _, err := root.elements()
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range elements {
		if string(e.key) == "logs" {
			return b.page(order.Uint64(e.value))
		}
	}
	b.t.Fatal("there is no log")
	return nil
}

// child returns where branch element i names its page.
func child(branch []byte, i int) []byte { return branch[pageHead+i*elementSize+8:][:8] }

// leaf returns the first leaf of the log.
func (b *boltBytes) leaf() []byte { return b.page(order.Uint64(child(b.logs(), 0))) }

func (b *boltBytes) freelist() []byte { return b.page(b.meta.freelist) }

func addTo16(b []byte, n int) { order.PutUint16(b, uint16(int(order.Uint16(b))+n)) }

// Each of the things that must hold for bolt to read what was written.
func TestVerifyBolt(t *testing.T) {
	key := func(index uint64) []byte { return binary.BigEndian.AppendUint64(nil, index) }
	cases := map[string]struct {
		change func(b *boltBytes)
		says   string
	}{
		"nothing": {func(b *boltBytes) {}, ""},
		"pages of an odd size": {func(b *boltBytes) {
			for _, at := range []uint64{0, 1} {
				m := b.page(at)[pageHead : pageHead+metaSize]
				order.PutUint32(m[8:], 5000)
				order.PutUint64(m[metaSize-8:], sumMeta(m))
			}
		}, "pages of 5000 bytes"},
		"a meta page of another commit": {func(b *boltBytes) {
			b.setMeta(func(m []byte) { order.PutUint64(m[48:], b.meta.txid+2) })
		}, "do not belong together"},
		"more pages than there are": {func(b *boltBytes) {
			b.setMeta(func(m []byte) { order.PutUint64(m[40:], uint64(len(b.file)/b.size)+1) })
		}, "it was cut short"},
		"fewer pages than in use": {func(b *boltBytes) {
			b.setMeta(func(m []byte) { order.PutUint64(m[40:], 4) })
		}, "of 4"},
		"no list of free pages": {func(b *boltBytes) {
			b.setMeta(func(m []byte) { order.PutUint64(m[32:], noFreelist) })
		}, "the list of free pages"},
		"a root that is the list of free pages": {func(b *boltBytes) {
			b.setMeta(func(m []byte) { order.PutUint64(m[16:], b.meta.freelist) })
		}, "unknown kind"},
		"a list of free pages that is a leaf": {func(b *boltBytes) {
			order.PutUint16(b.freelist()[8:], leafFlag)
		}, "of another kind"},
		"a page in use among the free ones": {func(b *boltBytes) {
			order.PutUint64(b.freelist()[pageHead:], b.meta.root)
		}, "is listed as free, but is in use"},
		"a page twice among the free ones": {func(b *boltBytes) {
			copy(b.freelist()[pageHead+8:], b.freelist()[pageHead:pageHead+8])
		}, "is listed as free, but is in use"},
		"a page that does not exist among the free ones": {func(b *boltBytes) {
			order.PutUint64(b.freelist()[pageHead:], 1<<40)
		}, "or does not exist"},
		"a free page too few": {func(b *boltBytes) { addTo16(b.freelist()[10:], -1) }, "neither in use nor listed as free"},
		"free pages without end": {func(b *boltBytes) {
			order.PutUint16(b.freelist()[10:], 0xFFFF)
			order.PutUint64(b.freelist()[pageHead:], 1<<60)
		}, "it should have"},
		"another bucket": {func(b *boltBytes) {
			copy(b.root()[bytes.Index(b.root(), []byte("conf")):], "conx")
		}, `instead of the bucket conf it has "conx"`},
		"a bucket that is none": {func(b *boltBytes) {
			order.PutUint32(b.root()[pageHead:], 0)
		}, `instead of the bucket conf it has "conf"`},
		"a bucket too few": {func(b *boltBytes) { addTo16(b.root()[10:], -1) }, "in the wrong place"},
		"other stable values": {func(b *boltBytes) {
			copy(b.root()[bytes.Index(b.root(), keyValues):], "tenurf")
		}, "does not hold the stable values"},
		"stable values of an unknown kind": {func(b *boltBytes) {
			at := bytes.Index(b.root(), keyValues) - elementSize
			order.PutUint32(b.root()[at:], 2)
		}, "of an unknown kind"},
		"a small bucket that has lost its element": {func(b *boltBytes) {
			at := bytes.Index(b.root(), keyValues) - elementSize - pageHead
			order.PutUint16(b.root()[at+10:], 0)
		}, "bytes and uses"},
		"an entry out of place": {func(b *boltBytes) {
			copy(b.leaf()[bytes.Index(b.leaf(), key(53)):], key(55))
		}, "out of order"},
		"an entry that leaves a hole": {func(b *boltBytes) {
			// The first leaf then begins at 50, and 51 is missing.
			copy(b.leaf()[bytes.Index(b.leaf(), key(51)):], key(50))
			copy(b.logs()[bytes.Index(b.logs(), key(51)):], key(50))
		}, "entry 51 is missing"},
		"an entry beyond its branch": {func(b *boltBytes) {
			second := b.logs()[pageHead+elementSize:]
			at := order.Uint32(second)
			copy(second[at:], key(52))
		}, "out of order"},
		"a bucket in the log": {func(b *boltBytes) { order.PutUint32(b.leaf()[pageHead:], bucketFlag) }, "of an unknown kind"},
		"a leaf twice":        {func(b *boltBytes) { copy(child(b.logs(), 1), child(b.logs(), 0)) }, "is used twice"},
		"a page that is not there": {func(b *boltBytes) {
			order.PutUint64(child(b.logs(), 1), 1<<40)
		}, "refers to page"},
		"a branch below itself": {func(b *boltBytes) {
			copy(child(b.logs(), 0), b.logs()[:8])
		}, "is used twice"},
		"an empty branch": {func(b *boltBytes) { order.PutUint16(b.logs()[10:], 0) }, "lost its elements"},
		"a leaf too few":  {func(b *boltBytes) { addTo16(b.logs()[10:], -1) }, "in the wrong place"},
		"an entry too few": {func(b *boltBytes) {
			addTo16(b.leaf()[10:], -1)
		}, "in the wrong place"},
		"an entry too many": {func(b *boltBytes) { addTo16(b.leaf()[10:], 1) }, "in the wrong place"},
		"no entries":        {func(b *boltBytes) { order.PutUint16(b.leaf()[10:], 0) }, "lost its elements"},
		"a value beyond its page": {func(b *boltBytes) {
			last := pageHead + (int(order.Uint16(b.leaf()[10:]))-1)*elementSize
			order.PutUint32(b.leaf()[last+12:], 1<<31)
		}, "in the wrong place"},
		"a leaf of many pages": {func(b *boltBytes) { order.PutUint32(b.leaf()[12:], 1<<30) }, "goes on over"},
		"another page's leaf":  {func(b *boltBytes) { order.PutUint64(b.leaf(), 1<<20) }, "there is page 1048576"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBoltBytes(t)
			c.change(b)
			err := b.verify()
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%v\nwant: %s", err, c.says)
			}
		})
	}
}
