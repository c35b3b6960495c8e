package storage

import (
	"testing"
	"time"

	"example.com/tenure"
)

// The instant of an entry is that at which storing it began.
func TestStoredAt(t *testing.T) {
	clock := &handClock{now: 5 * time.Second}
	f := &faults{}
	stores, err := faulty{Memory(), f}.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	g := Guard(stores, GuardConfig{Clock: clock, CheckEntry: checkTestEntry, Fail: func(err error) { t.Error(err) }})
	f.on("StoreLogs", func() error { clock.now += time.Second; return nil })
	if err := g.ForNode().Log.StoreLogs(commands(1, 2, 1)); err != nil {
		t.Fatal(err)
	}
	if at, ok := g.StoredAt(2, 1); at != 5*time.Second || !ok {
		t.Errorf("entry 2 was stored at %v, %v", at, ok)
	}
	if _, ok := g.StoredAt(0, 0); ok {
		t.Error("there is an entry 0")
	}
	// The ring is bounded: the oldest entries are forgotten.
	for from := uint64(3); from < 3+storedSize; from += 64 {
		if err := g.ForNode().Log.StoreLogs(commands(from, from+63, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := g.StoredAt(2, 1); ok {
		t.Error("entry 2 is still known")
	}
	if _, ok := g.StoredAt(3+storedSize-1, 1); !ok {
		t.Error("the newest entry is not known")
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// handClock is moved by hand.
type handClock struct{ now time.Duration }

func (c *handClock) Now() time.Duration { return c.now }

func (c *handClock) AfterFunc(time.Duration, func()) tenure.Timer { panic("not used") }
