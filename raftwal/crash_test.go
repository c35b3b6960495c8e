package raftwal

import (
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// newestSegment returns the path of the segment that is written to.
func newestSegment(t testing.TB, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, logName, "*.wal"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no segments", err)
	}
	slices.Sort(paths)
	return paths[len(paths)-1]
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A crash may keep any of the sectors of the write that it interrupts. What was
// acknowledged before is there afterwards, of that write all or nothing, and
// the log can be written to.
func TestInterruptedWrite(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, dir)
	l.append(1, 3)
	l.append(4, 5)
	path := newestSegment(t, dir)
	before := readFile(t, path)
	l.append(6, 9)
	l.close()
	after := readFile(t, path)
	var changed []int
	for at := 0; at < len(after); at += sector {
		if string(before[at:at+sector]) != string(after[at:at+sector]) {
			changed = append(changed, at)
		}
	}
	if len(changed) < 4 {
		t.Fatalf("the write changed only %d sectors", len(changed))
	}
	all := 1<<len(changed) - 1
	kepts := []int{0, 1, all &^ 1, all >> 1, all}
	for range 16 {
		kepts = append(kepts, rand.Intn(all))
	}
	for _, kept := range kepts {
		image := slices.Clone(before)
		for i, at := range changed {
			if kept&(1<<i) != 0 {
				copy(image[at:at+sector], after[at:at+sector])
			}
		}
		writeFile(t, path, image)
		l := openLog(t, dir)
		last := uint64(5)
		if kept == all {
			last = 9
		}
		l.mustHave(1, last)
		l.append(last+1, last+2)
		l.close()
		l = openLog(t, dir)
		l.mustHave(1, last+2)
		l.close()
	}
}

// Damage never makes a log shorter by more than its last batch: it is refused,
// or it is inside an entry, which has a checksum of its own. In the last batch
// it may look like a write that was interrupted.
func TestDamageNeverShortensTheLog(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, dir)
	for i := uint64(1); i <= 9; i += 3 {
		l.append(i, i+2)
	}
	l.close()
	path := newestSegment(t, dir)
	good := readFile(t, path)
	scanned, err := scanSegment(good)
	if err != nil {
		t.Fatal(err)
	}
	lastBatch := batchStarts(good)[2]
	refused := 0
	for range 150 {
		at, bit := rand.Intn(scanned.end), byte(1)<<rand.Intn(8)
		bad := slices.Clone(good)
		bad[at] ^= bit
		writeFile(t, path, bad)
		stores, err := tryLog(dir)
		if errors.Is(err, ErrDamaged) {
			refused++
			continue
		}
		if err != nil {
			t.Fatalf("byte %d, bit %x: %v", at, bit, err)
		}
		if last, err := stores.Log.LastIndex(); err != nil || last != 9 && (at < lastBatch || last != 6) {
			t.Errorf("byte %d, bit %x: the log ends at %d: %v", at, bit, last, err)
		}
		if err := stores.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if refused == 0 {
		t.Error("no damage was refused")
	}
}

// batchStarts returns where each whole batch begins.
func batchStarts(b []byte) (starts []int) {
	for at := 0; ; {
		next := readBatch(b, at, at == 0)
		if !next.whole {
			return starts
		}
		starts = append(starts, at)
		at = next.end
	}
}

// A crash right after the write that filled a segment leaves the list without
// the next one.
func TestCrashBeforeTheNextSegment(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, dir)
	list := filepath.Join(dir, logName, listName)
	first := newestSegment(t, dir)
	old := readFile(t, list)
	last := uint64(0)
	for newestSegment(t, dir) == first {
		last++
		l.append(last, last)
	}
	l.close()
	writeFile(t, list, old)
	if next := newestSegment(t, dir); next != first {
		if err := os.Remove(next); err != nil {
			t.Fatal(err)
		}
	}
	scanned, err := scanSegment(readFile(t, first))
	if err != nil || scanned.index == 0 {
		t.Fatalf("the first segment is not full: %+v, %v", scanned, err)
	}
	full := scanned.entries
	for range 2 {
		l = openLog(t, dir)
		l.mustHave(1, full)
		l.append(full+1, full+3)
		full += 3
		l.close()
	}
}

// A list that is not as it was written is refused.
func TestDamagedList(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, dir)
	l.append(1, 3)
	l.close()
	list := filepath.Join(dir, logName, listName)
	good := readFile(t, list)
	for at := range good {
		bad := slices.Clone(good)
		bad[at] ^= 4
		writeFile(t, list, bad)
		if _, err := tryLog(dir); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d: opening gives %v, want damaged", at, err)
		}
	}
}
