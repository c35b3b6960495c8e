package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/tenure"
)

// A grant is a lease as far as the store asks.
type grant struct{ epoch, forgotten uint64 }

func (g grant) Epoch() uint64          { return g.epoch }
func (g grant) Live(epoch uint64) bool { return epoch > g.forgotten && epoch <= g.epoch }

func open(t *testing.T, s *Store, g grant) *Ledger {
	t.Helper()
	l, err := s.Open(t.Context(), testKey, g)
	if err != nil {
		t.Fatalf("open at epoch %d: %v", g.epoch, err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

func add(t *testing.T, l *Ledger, id string) Entry {
	t.Helper()
	e, err := l.Append(t.Context(), id, "text of "+id)
	if err != nil {
		t.Fatalf("append %s: %v", id, err)
	}
	return e
}

func ids(t *testing.T, l *Ledger) []string {
	t.Helper()
	entries, err := l.Entries(t.Context())
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids
}

func TestSuccessorHasTheLedger(t *testing.T) {
	s := New(t.TempDir())
	first := open(t, s, grant{epoch: 1})
	add(t, first, "a")
	add(t, first, "b")
	second := open(t, s, grant{epoch: 5})
	if got := add(t, second, "c"); got != (Entry{Seq: 3, Epoch: 5, ID: "c", Text: "text of c"}) {
		t.Fatalf("appended %+v", got)
	}
	if got := ids(t, second); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Fatalf("the successor has %v", got)
	}
	snapshot, err := s.Latest(t.Context(), testKey)
	if err != nil || snapshot.Epoch != 5 || len(snapshot.Entries) != 3 {
		t.Fatalf("latest: %+v, %v", snapshot, err)
	}
}

// The goal: a retry, at the same tenure or a later one, is the same entry.
func TestRetryIsTheSameEntry(t *testing.T) {
	s := New(t.TempDir())
	first := open(t, s, grant{epoch: 1})
	e := add(t, first, "a")
	if again := add(t, first, "a"); again != e {
		t.Fatalf("retried: %+v, want %+v", again, e)
	}
	second := open(t, s, grant{epoch: 2})
	if again := add(t, second, "a"); again != e {
		t.Fatalf("retried at the successor: %+v, want %+v", again, e)
	}
	_, err := second.Append(t.Context(), "a", "another text")
	var conflict *ConflictError
	if !errors.As(err, &conflict) || conflict.Seq != 1 {
		t.Fatalf("the same id with another text: %v, want a ConflictError of seq 1", err)
	}
}

func TestSealedWriter(t *testing.T) {
	s := New(t.TempDir())
	first := open(t, s, grant{epoch: 1})
	add(t, first, "a")
	open(t, s, grant{epoch: 2})
	var sealed *SealedError
	if _, err := first.Append(t.Context(), "b", ""); !errors.As(err, &sealed) || sealed.By != 2 {
		t.Errorf("append: %v, want it sealed by epoch 2", err)
	}
	if _, err := first.Append(t.Context(), "a", "text of a"); !errors.As(err, &sealed) {
		t.Errorf("retry: %v, want it sealed", err)
	}
	if _, err := first.Entries(t.Context()); !errors.As(err, &sealed) {
		t.Errorf("read: %v, want it sealed", err)
	}
}

func TestOpenRefusesAnEpochThatIsNotNew(t *testing.T) {
	s := New(t.TempDir())
	open(t, s, grant{epoch: 7})
	for epoch, want := range map[uint64]string{6: "sealed by epoch 7", 7: "opened its ledger before"} {
		_, err := s.Open(t.Context(), testKey, grant{epoch: epoch})
		var sealed *SealedError
		if !errors.As(err, &sealed) || !strings.Contains(err.Error(), want) {
			t.Errorf("epoch %d: %v, want %q", epoch, err, want)
		}
	}
	if names := list(t, s); !slices.Equal(names, []string{copyName(7), sealName(7)}) {
		t.Errorf("the refused epochs left %v", names)
	}
}

// The goal: a copy above one's own epoch stops the reader also where its seal
// is gone, and so does one of the same epoch.
func TestOpenRefusesACopyFromAbove(t *testing.T) {
	s := New(t.TempDir())
	add(t, open(t, s, grant{epoch: 7}), "a")
	if err := os.Remove(filepath.Join(s.dir, testKey, sealName(7))); err != nil {
		t.Fatal(err)
	}
	for _, epoch := range []uint64{1, 7} {
		var sealed *SealedError
		if _, err := s.Open(t.Context(), testKey, grant{epoch: epoch}); !errors.As(err, &sealed) || sealed.By != 7 {
			t.Errorf("epoch %d: %v, want it refused for the copy of epoch 7", epoch, err)
		}
	}
}

func TestForgottenCopiesAreDead(t *testing.T) {
	s := New(t.TempDir())
	add(t, open(t, s, grant{epoch: 3}), "a")
	later := open(t, s, grant{epoch: 4, forgotten: 3})
	if got := ids(t, later); len(got) != 0 {
		t.Fatalf("read %v back after the forget", got)
	}
	if e := add(t, later, "a"); e.Seq != 1 || e.Epoch != 4 {
		t.Fatalf("appended %+v, want a new first entry", e)
	}
	if names := list(t, s); !slices.Equal(names, []string{copyName(4), sealName(4)}) {
		t.Fatalf("left %v", names)
	}
}

func TestDamagedCopyStopsTheSuccessor(t *testing.T) {
	s := New(t.TempDir())
	l := open(t, s, grant{epoch: 1})
	add(t, l, "a")
	add(t, l, "b")
	path := filepath.Join(s.dir, testKey, copyName(1))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(data, []byte("text of a"), []byte("text of z"), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = s.Open(t.Context(), testKey, grant{epoch: 2})
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || corrupt.Line != 2 || !strings.Contains(err.Error(), path) {
		t.Fatalf("got %v, want a CorruptError of line 2 of %s", err, path)
	}
}

func TestAppendRefusesBadInput(t *testing.T) {
	l := open(t, New(t.TempDir()), grant{epoch: 1})
	for _, c := range []struct{ id, text, field string }{
		{"", "x", "id"},
		{strings.Repeat("x", MaxIDBytes+1), "x", "id"},
		{"\xff", "x", "id"},
		{"a", strings.Repeat("x", MaxTextBytes+1), "text"},
		{"a", "\xff", "text"},
	} {
		_, err := l.Append(t.Context(), c.id, c.text)
		var invalid *tenure.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != c.field {
			t.Errorf("id %.10q, text %.10q: %v, want %s to be invalid", c.id, c.text, err, c.field)
		}
	}
	if got := ids(t, l); len(got) != 0 {
		t.Errorf("the ledger has %v", got)
	}
	add(t, l, strings.Repeat("x", MaxIDBytes))
}

func TestOpenRefusesBadInput(t *testing.T) {
	s := New(t.TempDir())
	for _, c := range []struct {
		key   string
		epoch uint64
		field string
	}{{"", 1, "key"}, {"a\nb", 1, "key"}, {"a", 0, "epoch"}, {"a", tenure.MaxEpoch + 1, "epoch"}} {
		_, err := s.Open(t.Context(), c.key, grant{epoch: c.epoch})
		var invalid *tenure.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != c.field {
			t.Errorf("key %q, epoch %d: %v, want %s to be invalid", c.key, c.epoch, err, c.field)
		}
	}
	if entries, err := os.ReadDir(s.dir); err != nil || len(entries) != 0 {
		t.Errorf("refused opens left %v, %v", entries, err)
	}
}

func TestClosedLedger(t *testing.T) {
	l := open(t, New(t.TempDir()), grant{epoch: 1})
	add(t, l, "a")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), "b", ""); !errors.Is(err, ErrClosed) {
		t.Errorf("append: %v, want ErrClosed", err)
	}
	if _, err := l.Entries(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("read: %v, want ErrClosed", err)
	}
}

func TestCancelledContext(t *testing.T) {
	s := New(t.TempDir())
	l := open(t, s, grant{epoch: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Append(ctx, "a", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("append: %v", err)
	}
	if _, err := s.Open(ctx, testKey, grant{epoch: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
	if _, err := s.Open(t.Context(), testKey, grant{epoch: 3}); err != nil {
		t.Errorf("the tenure after a cancelled open: %v", err)
	}
}

// The goal: entries that are appended while a sync is under way share the next
// one.
func TestConcurrentAppendsShareASync(t *testing.T) {
	s := New(t.TempDir())
	slow := &slowDisk{release: make(chan struct{})}
	s.disk = slow
	l := open(t, s, grant{epoch: 1})
	slow.hold()
	var appends sync.WaitGroup
	for i := range 100 {
		appends.Go(func() {
			if _, err := l.Append(t.Context(), fmt.Sprint(i), ""); err != nil {
				t.Errorf("append %d: %v", i, err)
			}
		})
	}
	for joined := 0; joined < 100; {
		l.mu.Lock()
		joined = len(l.waiting)
		l.mu.Unlock()
		runtime.Gosched()
	}
	close(slow.release)
	appends.Wait()
	if syncs := slow.count(); syncs != 2 {
		t.Errorf("100 entries took %d syncs, want 2", syncs)
	}
	if got := ids(t, l); len(got) != 100 {
		t.Errorf("the ledger has %d entries, want 100", len(got))
	}
}

// slowDisk holds syncs of files back, and counts them from then on.
type slowDisk struct {
	osDisk
	mu      sync.Mutex
	holds   bool
	syncs   int
	release chan struct{}
}

func (d *slowDisk) hold() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.holds = true
}

func (d *slowDisk) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncs
}

func (d *slowDisk) create(path string) (file, error) {
	f, err := d.osDisk.create(path)
	return &slowFile{file: f, disk: d}, err
}

type slowFile struct {
	file
	disk *slowDisk
}

func (f *slowFile) Sync() error {
	f.disk.mu.Lock()
	holds := f.disk.holds
	if holds {
		f.disk.syncs++
	}
	f.disk.mu.Unlock()
	if holds {
		<-f.disk.release
	}
	return f.file.Sync()
}

// The goal: with many writers on real files, none of which stops for its
// successor, every acknowledged entry is in the last ledger, once, in order.
func TestTakeoversUnderLoad(t *testing.T) {
	s := New(t.TempDir())
	var mu sync.Mutex
	acknowledged := make(map[string]Entry)
	var writers sync.WaitGroup
	for epoch := uint64(1); epoch <= 8; epoch++ {
		l := open(t, s, grant{epoch: epoch})
		for writer := range 4 {
			writers.Go(func() {
				for i := 0; ; i++ {
					e, err := l.Append(t.Context(), fmt.Sprintf("%d/%d/%d", epoch, writer, i), "")
					if err != nil {
						return
					}
					mu.Lock()
					acknowledged[e.ID] = e
					mu.Unlock()
				}
			})
		}
		for before := count(&mu, acknowledged); count(&mu, acknowledged) < before+20; {
			add(t, l, fmt.Sprintf("%d/own/%d", epoch, count(&mu, acknowledged)))
		}
	}
	last := open(t, s, grant{epoch: 9})
	writers.Wait()
	entries, err := last.Entries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]Entry)
	for i, e := range entries {
		if _, twice := found[e.ID]; twice || e.Seq != uint64(i+1) {
			t.Errorf("%+v is there twice or out of place at %d", e, i+1)
		}
		found[e.ID] = e
	}
	for id, e := range acknowledged {
		if found[id] != e {
			t.Errorf("%+v was acknowledged, found %+v", e, found[id])
		}
	}
}

func count(mu *sync.Mutex, m map[string]Entry) int {
	mu.Lock()
	defer mu.Unlock()
	return len(m)
}

func TestDirNames(t *testing.T) {
	long := strings.Repeat("K", tenure.MaxKeyBytes)
	for key, want := range map[string]string{
		"tenant-42": "tenant-42",
		"a/b":       "a%2Fb",
		"..":        "%2E%2E",
		"Ä":         "%C3%84",
		"A":         "%41",
		"%41":       "%2541",
		long:        "sha256=",
	} {
		if got := dirName(key); !strings.HasPrefix(got, want) || len(got) > 255 || len(want) < len(got) && key != long {
			t.Errorf("dirName(%.20q) = %q, want %q", key, got, want)
		}
	}
	if dirName(long) == dirName(long[1:]) {
		t.Error("two long keys share a directory")
	}
}

func TestOtherFilesStay(t *testing.T) {
	s := New(t.TempDir())
	open(t, s, grant{epoch: 1})
	for _, name := range []string{"README", "copy-1", "seal-x", "copy-00000000000000000001.bak"} {
		if err := os.WriteFile(filepath.Join(s.dir, testKey, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	open(t, s, grant{epoch: 2})
	want := []string{"README", copyName(2), "copy-00000000000000000001.bak", "copy-1", sealName(2), "seal-x"}
	slices.Sort(want)
	if got := list(t, s); !slices.Equal(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
}

func list(t *testing.T, s *Store) []string {
	t.Helper()
	names, err := osDisk{}.names(filepath.Join(s.dir, testKey))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}
