package storage

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
)

// These tests damage a bolt file in many ways. Whatever was done to it, opening
// and reading it gives the right data or an error that names the file; and the
// test process is still there to say so.

// original is an undamaged folder: its file, and what can be read from it.
type original struct {
	dir     string
	file    []byte
	content string
	used    []bool // pages in use; the others are free
	opened  *int   // files that were refused
}

// newOriginal makes a folder with 21 entries and so many more.
func newOriginal(t *testing.T, more uint64) original {
	t.Helper()
	o := original{dir: filled(t, 30), opened: new(int)}
	g, err := openChecked(t, o.dir)
	if err != nil {
		t.Fatal(err)
	}
	for from := uint64(31); from < 31+more; from += 10 {
		if err := g.ForNode().Log.StoreLogs(commands(from, from+9, 3)); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if o.file, err = os.ReadFile(filepath.Join(o.dir, boltName)); err != nil {
		t.Fatal(err)
	}
	if o.content, err = o.read(t, o.file); err != nil {
		t.Fatal(err)
	}
	meta, err := newestMeta(bytes.NewReader(o.file), int64(len(o.file)))
	if err != nil {
		t.Fatal(err)
	}
	v := &boltVerifier{file: bytes.NewReader(o.file), meta: meta, seen: make([]bool, meta.pages)}
	tree := &boltTree{boltVerifier: v}
	if err := tree.page(meta.root, keyRange{}, 0); err != nil {
		t.Fatal(err)
	}
	for _, e := range tree.leaves {
		if root := order.Uint64(e.value); root != 0 {
			if err := (&boltTree{boltVerifier: v}).page(root, keyRange{}, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	v.seen[0], v.seen[1] = true, true
	o.used = v.seen
	return o
}

// read opens the folder with file in the place of its own, and returns all that
// is in it as text.
func (o original) read(t *testing.T, file []byte) (string, error) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, boltName), file, 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := openChecked(t, o.dir)
	if err != nil {
		return "", err
	}
	defer func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}()
	s := g.ForNode()
	var text strings.Builder
	term, err1 := s.Stable.GetUint64(keyCurrentTerm)
	voteTerm, err2 := s.Stable.GetUint64([]byte("LastVoteTerm"))
	vote, err3 := s.Stable.Get([]byte("LastVoteCand"))
	first, err4 := s.Log.FirstIndex()
	last, err5 := s.Log.LastIndex()
	fmt.Fprintln(&text, term, voteTerm, string(vote), first, last)
	err = errors.Join(err1, err2, err3, err4, err5)
	for index := first; index <= last && err == nil; index++ {
		var log raft.Log
		err = s.Log.GetLog(index, &log)
		fmt.Fprintln(&text, log.Index, log.Term, log.Type, log.Data)
	}
	return text.String(), err
}

// judge reports a damage that was neither refused nor harmless.
//
// Opening a folder writes to the disk, so of the files that are refused by the
// first look at them only every twentieth is opened as well.
func (o original) judge(t *testing.T, what string, file []byte) (refused bool) {
	t.Helper()
	if verifyBolt(bytes.NewReader(file), int64(len(file))) != nil {
		if *o.opened++; *o.opened%20 != 0 {
			return true
		}
	}
	content, err := o.read(t, file)
	if err != nil {
		var damage *DamageError
		if !errors.As(err, &damage) || !strings.Contains(err.Error(), filepath.Join(o.dir, boltName)) {
			t.Errorf("%s: an unclear error: %v", what, err)
		}
		return true
	}
	if content != o.content {
		t.Errorf("%s: it reads\n%s\nwant\n%s", what, content, o.content)
	}
	return false
}

func TestBoltTruncated(t *testing.T) {
	o := newOriginal(t, 400)
	page := os.Getpagesize()
	lengths := []int{1, 15, 79, 80, page - 1}
	for at := 0; at < len(o.file); at += page {
		lengths = append(lengths, at, at+1, at+page/2)
	}
	for quarter := 1; quarter < 4; quarter++ {
		lengths = append(lengths, len(o.file)*quarter/4)
	}
	refused := 0
	for _, length := range lengths {
		if length < len(o.file) && o.judge(t, fmt.Sprintf("cut to %d bytes", length), o.file[:length]) {
			refused++
		}
	}
	// Only what is behind the last page in use may go unnoticed.
	if refused == 0 || refused == len(lengths) {
		t.Errorf("of %d cuts %d were refused", len(lengths), refused)
	}
}

func TestBoltTorn(t *testing.T) {
	o := newOriginal(t, 400)
	page := os.Getpagesize()
	random := rand.New(rand.NewSource(1))
	tears := map[string]func(p []byte, at int){
		"zeroed":            func(p []byte, _ int) { clear(p) },
		"of random bytes":   func(p []byte, _ int) { random.Read(p) },
		"of ones":           func(p []byte, _ int) { copy(p, bytes.Repeat([]byte{0xff}, len(p))) },
		"headless":          func(p []byte, _ int) { clear(p[:16]) },
		"another's":         func(p []byte, at int) { copy(p, o.file[(at+page)%len(o.file):][:page]) },
		"without elements":  func(p []byte, _ int) { order.PutUint16(p[10:], 0) },
		"with too many":     func(p []byte, _ int) { order.PutUint16(p[10:], 0xFFFF) },
		"overflowing":       func(p []byte, _ int) { order.PutUint32(p[12:], 0xFFFFFFFF) },
		"overflowing by 1":  func(p []byte, _ int) { order.PutUint32(p[12:], 1) },
		"of the other kind": func(p []byte, _ int) { order.PutUint16(p[8:], order.Uint16(p[8:])^3) },
		"zeroed to half":    func(p []byte, _ int) { clear(p[len(p)/2:]) },
	}
	for at := 0; at < len(o.file); at += page {
		for name, tear := range tears {
			file := bytes.Clone(o.file)
			tear(file[at:at+page], at)
			refused := o.judge(t, fmt.Sprintf("the page at byte %d is %s", at, name), file)
			// A meta page has neither elements nor overflow, and half of a page
			// can be empty.
			mustNotice := at >= 2*page && name != "zeroed to half" && name != "overflowing by 1"
			if number := at / page; mustNotice && number < len(o.used) && o.used[number] && !refused {
				t.Errorf("page %d, which is in use, is %s, and nobody noticed", number, name)
			}
		}
	}
}

// Every bit of the meta pages, every byte of what holds a vote or an entry, and
// many others.
func TestBoltBitFlips(t *testing.T) {
	o := newOriginal(t, 60)
	page := os.Getpagesize()
	var flips []int // bits
	for bit := range (pageHead + metaSize) * 8 {
		flips = append(flips, bit, page*8+bit)
	}
	for _, holds := range [][]byte{testEntry(45), keyValues, []byte("CurrentTerm"), []byte("LastVoteCand")} {
		at := bytes.Index(o.file, holds)
		if at < 0 {
			t.Fatalf("the file does not hold %q", holds)
		}
		for i := at - 16; i < at+len(holds)+24; i++ {
			flips = append(flips, i*8+i%8)
		}
	}
	random := rand.New(rand.NewSource(2))
	for len(flips) < 1800 {
		bit := random.Intn(len(o.file) * 8)
		if number := bit / 8 / page; number < len(o.used) && o.used[number] {
			flips = append(flips, bit)
		}
	}
	for _, bit := range flips {
		file := bytes.Clone(o.file)
		file[bit/8] ^= 1 << (bit % 8)
		o.judge(t, fmt.Sprintf("bit %d of byte %d", bit%8, bit/8), file)
	}
}

// A file that is cut short while it is in use faults on the calls that read it,
// which fails the node and nothing else.
func TestBoltTruncatedWhileOpen(t *testing.T) {
	for name, call := range everyCall(Stores{}) {
		_ = call
		t.Run(name, func(t *testing.T) {
			dir := filled(t, 400)
			g, err := openChecked(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(filepath.Join(dir, boltName), 0); err != nil {
				t.Fatal(err)
			}
			err = everyCall(g.ForNode())[name]()
			var failed *FailedError
			if touchesFile := name != "List" && name != "Create" && name != "Open"; touchesFile && !errors.As(err, &failed) {
				t.Errorf("it went on: %v", err)
			}
			ended := <-Go(func() { everyCall(g.ForRaft())[name]() })
			if failed != nil && ended == nil {
				t.Error("Raft's goroutine went on")
			}
			g.Close() // which may not be able to, and must return
		})
	}
}
