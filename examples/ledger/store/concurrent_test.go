package store

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

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
		if i == 0 {
			until(func() bool { return slow.count() == 1 }) // its sync is under way
		}
	}
	until(func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.waiting) == 100
	})
	close(slow.release)
	appends.Wait()
	if syncs := slow.count(); syncs != 2 {
		t.Errorf("100 entries took %d syncs, want 2", syncs)
	}
	if got := ids(t, l); len(got) != 100 {
		t.Errorf("the ledger has %d entries, want 100", len(got))
	}
}

// until waits for what is about to happen; the test's own timeout bounds it.
func until(holds func() bool) {
	for !holds() {
		runtime.Gosched()
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
